"""What a job does, by stage; each module's `execute` is one command."""

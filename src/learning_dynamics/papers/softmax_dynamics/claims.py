"""What is concluded."""

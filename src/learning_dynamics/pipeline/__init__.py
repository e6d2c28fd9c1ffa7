"""How jobs are made of a configuration and carried out; nothing that a result depends on."""

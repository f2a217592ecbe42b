"""The project's configuration, section by section, and the definitions it names."""

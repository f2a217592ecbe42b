"""What a program is written as: one folder for each target."""

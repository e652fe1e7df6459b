"""What the program finds on its machine: assets, its secret, its parent process, the demo."""

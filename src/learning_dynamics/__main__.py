"""``python -m learning_dynamics <stage> ...``."""

from learning_dynamics.cli import main

raise SystemExit(main())

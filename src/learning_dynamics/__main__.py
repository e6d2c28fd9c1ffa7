"""``python -m learning_dynamics <stage> ...``."""

from learning_dynamics.pipeline.cli import main

raise SystemExit(main())

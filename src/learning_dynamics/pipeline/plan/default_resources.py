"""What a job asks a cluster for where the configuration says nothing else."""

# memory in MB and time in minutes, several times what the laptop's scale uses; both grow with each attempt
REQUESTS = {
    "data": {"mem_mb": 800, "runtime": 10},
    "run": {"mem_mb": 1000, "runtime": 30, "gpu": 0, "gpu_mb": 0},
    "metrics": {"mem_mb": 1000, "runtime": 5, "gpu": 0, "gpu_mb": 0},
    "bundle": {"mem_mb": 2000, "runtime": 60, "gpu": 0, "gpu_mb": 0},
    "figure": {"mem_mb": 800, "runtime": 5},
    "motion": {"mem_mb": 1000, "runtime": 5},
    "interactive": {"mem_mb": 1000, "runtime": 5},
    "claims": {"mem_mb": 1500, "runtime": 10},
    "variation": {"mem_mb": 3000, "runtime": 240},
}

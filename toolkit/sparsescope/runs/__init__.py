"""The loop: runs, events, stopping rules, traces, live sessions and paths over λ."""

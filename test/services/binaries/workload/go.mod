module causeway.dev/test/workload

go 1.26.0

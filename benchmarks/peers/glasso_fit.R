# One fit of R's glasso: Rscript glasso_fit.R FOLDER P LAMBDA THRESHOLD PENALISE-DIAGONAL(0/1)
# FOLDER holds S.bin (P x P doubles); writes Theta.bin into it and prints the processor and wall seconds and the version.
suppressMessages(library(glasso))
args <- commandArgs(trailingOnly = TRUE)
p <- as.integer(args[2])
S <- matrix(readBin(file.path(args[1], "S.bin"), "double", p * p), p, p)
began <- proc.time()
fit <- glasso(S, rho = as.numeric(args[3]), thr = as.numeric(args[4]), maxit = 1e5, penalize.diagonal = args[5] == "1")
spent <- proc.time() - began
writeBin(as.numeric(fit$wi), file.path(args[1], "Theta.bin"), size = 8)
cat(spent[["user.self"]] + spent[["sys.self"]], spent[["elapsed"]], as.character(packageVersion("glasso")), "\n")

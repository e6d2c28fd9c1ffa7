"""Claims on the least-squares classifier and on the terms of the loss.

- `identities`: Propositions and theorems that hold of any features
- `small_terms`: what a term that is small implies
- `falls`: along the training of networks the terms add up to the loss; how far each term falls
- `largest_terms`: along training, which term of the loss is negligible and which is dominant
- `causes_of_deviation`: what keeps a network's classifier off the least-squares one

The claims on trainings have these symbols. Under MSE the loss is L = L_LS + L_LS^perp, L_LS = L_NC1 + L_NC2/3 (Theorems
1 and 2). W are the network's classifiers with their biases and W_LS the least-squares classifiers of its features, (C,
P + 1) for C classes and P features; features h have a last entry of one. With the weight decay lambda, the class means
M, (P + 1, C), and the covariance Sigma_W within classes

- L_NC1 = tr(W_LS (Sigma_W + lambda I) W_LS^T) / 2
- L_NC2/3 = ||W_LS M - I||^2 / (2 C)
- L_LS^perp = tr((W - W_LS) S (W - W_LS)^T) / 2 with the regularised second moment S = Ave h h^T + lambda I

Weight decay adds lambda / 2 ||W_LS||^2 to the first and lambda / 2 ||W - W_LS||^2 to the last; what is left of the
terms are squared errors of predictions.

In claims on trainings a draw is one training: a network, a data set, a seed. Arrays have shape (trainings,) unless they
say otherwise; tables that are "epochs by seeds" have recorded epochs as rows. Train errors end at the first recorded
epoch at which no more than a share of the train images is misclassified: `train_error`, or `EFFECTIVELY_ZERO`, one in a
thousand. `excluded` has the number of trainings that are left out as exceptions, by the reason.
"""

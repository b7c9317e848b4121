// Package mf factorizes a rating matrix by stochastic gradient descent on many
// ranks that exchange nothing but a stale-synchronous sum.
//
// # The model
//
// A rating is predicted as mean + user bias + item bias + user factors · item
// factors. The biases and factors of a user live on the rank that owns the user
// and nowhere else. The biases and factors of items are shared:
//
//	items = initial items + sum over all ranks of the rank's accumulated update
//
// The initial items follow from the seed and are the same everywhere. In each
// iteration a rank goes once over the ratings of its own users, adds what it
// changed about the items to its accumulated update, and puts that update into
// the sum. It does not communicate in any other way.
//
// # Why the update is accumulated
//
// In Section V-A of "Eventually consistent collectives" (the paper that
// introduces allreduce_ssp) a contribution is the gradient of one iteration. A
// stale-synchronous sum may use the same contribution of a slow rank in two
// calls and skip one of a fast rank altogether, so that some gradients are
// applied twice and others never. Here a contribution is everything that its rank has ever
// learned. An old one is late by some iterations, and the next that arrives
// replaces it and makes up for it: nothing is lost and nothing is counted twice.
// A rank's own newest contribution is always part of its sum. With slack 0 both
// ways are the same method.
//
// # The error, without synchronizing
//
// Three more elements ride on the vector. Two are the rank's sum of squared
// errors over its held-out ratings, measured with the model that it entered the
// iteration with, and their number. Their sums over all ranks, each as old as
// the rest of the contribution, give the RMSE at no extra exchange. With slack 0
// it is the exact error of the model at the start of the iteration.
//
// # How all ranks stop together
//
// The third element says when to stop. A stale-synchronous sum needs every rank
// to make the same number of calls, or else the others wait for a rank that has
// gone home. Rank 0 alone watches the error. Once it finds in call c that it is
// enough, its contributions from call c+1 on carry c, and the last call is
// L = c + 1 + slack. A rank that has finished call L has used a contribution of
// rank 0 that is at most slack calls old, that is from call c+1 or later, and so
// knows c: nobody can pass L without knowing that it is the last. A rank that
// knows does its iterations up to c and from then on computes nothing, but only
// keeps the sum going, which costs little.
//
// After that every rank makes slack+1 more calls with an unchanged contribution.
// In the last of them each contribution is from after call L and therefore final,
// so that all ranks end with the same items, exactly initial plus the sum of all
// updates. A run of a fixed number of iterations ends in the same way, with L
// known from the start.
package mf

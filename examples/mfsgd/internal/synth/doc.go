// Package synth makes ratings that resemble MovieLens 25M: the same shape at
// any scale, half stars, a few items that everybody rates and many that hardly
// anybody does, a few very active users, and tastes of low rank with noise.
//
// A set is a function of its shape and seed alone. Each user's row comes from a
// random stream of its own, so that a rank makes the rows of its own users and
// no others, and the set does not depend on how many ranks there are.
//
// The attainable error: the noise has a standard deviation of 0.70 stars and rounding to half
// stars adds 0.14, less what the ends of the scale cut off, so that somebody who knew every
// user's and item's true taste would predict the ratings with an RMSE of 0.67 to 0.68 (a test
// measures it). A model that learns from the ratings stays above that, the nearer the more
// ratings there are per user and item. Predicting the mean rating gives 1.01.
package synth

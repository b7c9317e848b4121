// Package ratings holds the ratings a rank learns from: it reads MovieLens
// files, decides which rank owns which user, and sets a share aside for testing.
//
// It knows nothing of other ranks but their number. Every rank reads the same
// file from beginning to end and takes the same decisions in the same order, so
// that all agree on owners and on item numbers without exchanging a word; each
// keeps only the ratings of its own users.
package ratings

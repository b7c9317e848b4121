package algorithms

// movements are the algorithms of operations that move elements and combine none.
func movements() []Algorithm {
	return nil
}

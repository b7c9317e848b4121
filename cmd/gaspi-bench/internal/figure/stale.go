package figure

func staleFigures() []Figure { return nil }

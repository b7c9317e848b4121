package stdio

// Status shows text as the last line of the terminal that Stderr is, in place of the text before
// it; an empty text takes the line off. It reports whether there is such a terminal, and does
// nothing without one. It is called from one goroutine.
func (o *Forwarder) Status(text string) bool {
	if o.stderr.width == nil {
		return false
	}
	if text == "" {
		o.endStatus()
		return true
	}
	if o.status == nil {
		o.status = &stream{labeller: labeller{live: true}, display: o.stderr, w: o.to.Stderr, broken: func(error) {}}
	}
	o.status.Feed([]byte("\r" + text))
	return true
}

func (o *Forwarder) endStatus() {
	if o.status == nil {
		return
	}
	o.stderr.update(o.status, o.status.drop)
	o.status = nil
}

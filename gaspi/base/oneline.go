package base

import (
	"context"
	"slices"
	"strings"
)

// oneLine is the error of OneLine.
type oneLine struct {
	text string
	errs []error
}

// Error returns the texts of the errors.
func (e *oneLine) Error() string { return e.text }

// Unwrap returns the errors.
func (e *oneLine) Unwrap() []error { return e.errs }

// OneLine is errors.Join with a text of one line, in which no error stands twice. The end of a
// context stands there only if there is no other error: it says no more than that time is over.
func OneLine(errs ...error) error {
	errs = slices.DeleteFunc(slices.Clone(errs), func(err error) bool { return err == nil })
	if len(errs) == 0 {
		return nil
	}
	var texts, ends []string
	for _, err := range errs {
		text := strings.ReplaceAll(err.Error(), "\n", "; ")
		switch isEnd := err == context.DeadlineExceeded || err == context.Canceled; {
		case isEnd:
			ends = append(ends, text)
		case !slices.Contains(texts, text):
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		texts = slices.Compact(ends)
	}
	return &oneLine{strings.Join(texts, "; "), errs}
}

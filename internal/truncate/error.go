package truncate

// Error returns an error with the text of err, made fit as Text does. It unwraps to err, so that kinds and causes stay known. An error whose
// text is fit is returned as it is, and nil as nil.
func Error(err error, limit int) error {
	if err == nil {
		return nil
	}
	whole := err.Error()
	text := Text(whole, limit)
	if text == whole {
		return err
	}
	return &truncatedError{text: text, cause: err}
}

type truncatedError struct {
	text  string
	cause error
}

func (e *truncatedError) Error() string { return e.text }

func (e *truncatedError) Unwrap() error { return e.cause }

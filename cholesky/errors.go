package cholesky

import "fmt"

// NotFiniteError reports a NaN or an infinity in an input matrix.
type NotFiniteError struct {
	Row, Col int
	Value    float64
}

func (e *NotFiniteError) Error() string {
	return fmt.Sprintf("cholesky: entry (%d, %d) is %v; every entry must be a finite number", e.Row, e.Col, e.Value)
}

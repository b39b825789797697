// Package standin names what a landscape does not run for real. It must not depend on what is simulated.
package standin

// StandIn is something that is simulated.
type StandIn struct {
	// Name says what is simulated, and what is done instead.
	Name string `json:"name"`
	// Reason says why it is not real.
	Reason string `json:"reason"`
}

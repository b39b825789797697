package main

import (
	"errors"
	"time"

	"github.com/trellis-garden/trellis/internal/manager"
)

// defaultFullCheckInterval is longer than gardenlet's pauses between the attempts of a flow, and shorter than the time between two maintenances.
const defaultFullCheckInterval = 10 * time.Minute

// fullCheckFlags are the flags for the checks of resources in the cloud.
type fullCheckFlags struct{ interval time.Duration }

func newFullCheckFlags() *fullCheckFlags { return &fullCheckFlags{interval: defaultFullCheckInterval} }

func (f *fullCheckFlags) flags() manager.FlagSection {
	return manager.FlagSection{Title: "Checks of resources in the cloud", Flags: []manager.Flag{{
		Name: "full-check-interval", Value: "DURATION", Defaults: "10m",
		Usage: "How long after a check of all resources of a shoot gardenlet's repetitions of the reconciliation check only its router. " +
			"What a user or an operator requests is always a check of all resources.",
		Allowed: "a duration such as 10m, 0 for a check of all resources in each reconciliation",
		Set: func(text string) error {
			interval, err := time.ParseDuration(text)
			if err != nil || interval < 0 {
				return errors.New("must be a duration, not negative")
			}
			f.interval = interval
			return nil
		},
	}}}
}

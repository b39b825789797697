package main

import (
	"errors"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/trellis-garden/trellis/internal/manager"
)

// machineController is what can be said of the containers beside machine-controller-manager.
type machineController struct {
	memoryLimit resource.Quantity
}

func (m *machineController) flags() manager.FlagSection {
	return manager.FlagSection{Title: "Machine controller", Flags: []manager.Flag{{
		Name: "machine-controller-memory-limit", Value: "QUANTITY", Defaults: "0",
		Usage:   "Memory above which the container of the machine controller is killed; it collects garbage in time to stay below nine tenths of it.",
		Allowed: "a quantity such as 1Gi, 0 for no limit",
		Set: func(text string) error {
			limit, err := resource.ParseQuantity(text)
			if err != nil || limit.Sign() < 0 {
				return errors.New("must be a quantity")
			}
			m.memoryLimit = limit
			return nil
		},
	}}}
}

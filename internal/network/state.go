package network

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
)

// state is what one reconciliation keeps for the next in status.state, which is migrated with the shoot.
type state struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Form is the form of the rendering deployed last, encoded by its driver.
	Form json.RawMessage `json:"form"`
	// Stage is the stage that the shoot's nodes have not reached yet, if there is one.
	Stage *pendingStage `json:"stage,omitempty"`
}

type pendingStage struct {
	Name string `json:"name"`
	Gate Gate   `json:"gate"`
}

const (
	stateVersion = "network.trellis.garden/v1alpha1"
	stateKind    = "NetworkState"
)

// stateOf returns the state of the last reconciliation. A state of another extension counts as none.
func stateOf(object *extensionsv1alpha1.Network) state {
	var recorded state
	raw := object.Status.State
	if raw == nil || json.Unmarshal(raw.Raw, &recorded) != nil || recorded.APIVersion != stateVersion || recorded.Kind != stateKind {
		return state{}
	}
	return recorded
}

// newState returns the state for a rendering, and for the stage that it belongs to, nil for none.
func newState(rendering *Rendering, stage *Stage) (state, error) {
	form, err := encode(rendering.Form)
	if err != nil {
		return state{}, err
	}
	next := state{APIVersion: stateVersion, Kind: stateKind, Form: form}
	if stage != nil {
		next.Stage = &pendingStage{Name: stage.Name, Gate: stage.Gate}
	}
	return next, nil
}

func encode(form any) (json.RawMessage, error) {
	encoded, err := json.Marshal(form)
	if err != nil {
		return nil, fmt.Errorf("encoding the form of the network: %w", err)
	}
	if string(encoded) == "null" {
		return nil, errors.New("encoding the form of the network: there is none")
	}
	return encoded, nil
}

// same compares by content: the API server may have reordered the fields of a form.
func (s state) same(other state) bool {
	own, err := canonical(s)
	if err != nil {
		return false
	}
	others, err := canonical(other)
	return err == nil && bytes.Equal(own, others)
}

// canonical encodes maps in the order of their keys.
func canonical(s state) ([]byte, error) {
	encoded, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	var fields any
	if err := json.Unmarshal(encoded, &fields); err != nil {
		return nil, err
	}
	return json.Marshal(fields)
}

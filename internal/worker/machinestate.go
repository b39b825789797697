package worker

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
)

// machineState is what gardenlet has saved of a shoot's machines before the migration, in the format of Gardener's ShootState. It has no
// status, no owners and no finalizers, and no machine that had no server yet.
type machineState struct {
	MachineDeployments map[string]*deploymentState `json:"machineDeployments,omitempty"`
}

// deploymentState is the saved state of one MachineDeployment.
type deploymentState struct {
	Replicas    int32                        `json:"replicas,omitempty"`
	MachineSets []machinev1alpha1.MachineSet `json:"machineSets,omitempty"`
	Machines    []machinev1alpha1.Machine    `json:"machines,omitempty"`
}

// packedMachineState is its encoding: JSON in gzip in JSON.
type packedMachineState struct {
	State []byte `json:"state"`
}

// savedMachines reads what gardenlet has written into the status for a restore. It is never nil; that of a shoot without machines is empty.
func savedMachines(w *extensionsv1alpha1.Worker) (*machineState, error) {
	state := &machineState{}
	if w.Status.State == nil || len(w.Status.State.Raw) == 0 {
		return state, nil
	}
	var packed packedMachineState
	if err := json.Unmarshal(w.Status.State.Raw, &packed); err != nil {
		return nil, fmt.Errorf("reading the machines to be restored from status.state: %w", err)
	}
	if len(packed.State) == 0 {
		return state, nil
	}
	unpacked, err := gunzip(packed.State)
	if err != nil {
		return nil, fmt.Errorf("unpacking the machines to be restored from status.state: %w", err)
	}
	if len(unpacked) == 0 {
		return state, nil
	}
	if err := json.Unmarshal(unpacked, state); err != nil {
		return nil, fmt.Errorf("decoding the machines to be restored from status.state: %w", err)
	}
	return state, nil
}

func gunzip(packed []byte) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(reader) // it fails if the end is missing or the checksum is wrong
}

// isEmpty reports whether nothing was saved: machine-controller-manager never ran, or the state was lost.
func (s *machineState) isEmpty() bool { return len(s.MachineDeployments) == 0 }

// refersTo reports whether there was a machine set of one of these classes.
func (s *machineState) refersTo(classes []string) bool {
	for _, deployment := range s.MachineDeployments {
		if deployment == nil {
			continue
		}
		for i := range deployment.MachineSets {
			if slices.Contains(classes, deployment.MachineSets[i].Spec.Template.Spec.Class.Name) {
				return true
			}
		}
	}
	return false
}

// classes returns the names of all classes to which sets and machines refer, without duplicates.
func (s *deploymentState) classes() []string {
	var names []string
	for i := range s.MachineSets {
		names = append(names, s.MachineSets[i].Spec.Template.Spec.Class.Name)
	}
	for i := range s.Machines {
		names = append(names, s.Machines[i].Spec.Class.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

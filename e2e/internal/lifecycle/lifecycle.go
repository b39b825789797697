// Package lifecycle leads Shoots through their life in a whole Gardener landscape, step by step, and says after each step whether all is as it must
// be. Users' and operators' requests go to the garden's API server, as in production; gardenlet and our controllers do the rest. Machines are
// simulated by package shootmachines. The package must not start or install anything of the landscape.
package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/trellis-garden/trellis/e2e/internal/audit"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/e2e/internal/standin"
)

// Landscape is what a run needs of a landscape.
type Landscape struct {
	// Garden is the path of an administrator's kubeconfig of the garden, and GardenAudits are the audit logs of its API servers.
	Garden       string
	GardenAudits []audit.Log
	// Seeds are ready. The Shoots are in the first. With two, a control plane can be migrated.
	Seeds []Seed
	// Cloud is where the Shoots' resources are. Its proxy listens where the seeds' pods reach it.
	Cloud *openstack.Cloud
	// Dir is the folder of the run's files.
	Dir string
	// Registrations are the names of our ControllerRegistrations for OpenStack.
	Registrations []string
	// Versions are the versions of Kubernetes that control planes of shoots can have here, ascending. Shoots start with the first.
	Versions []string
	// MachineImage is the type of the OperatingSystemConfigs.
	MachineImage string
	// HasAdmission says that our admission is installed in the garden.
	HasAdmission bool
	// StandIns are what the landscape simulates.
	StandIns []standin.StandIn
	// Out is for people. Lines come from several goroutines, each by one Write.
	Out io.Writer
}

// Seed is a seed of a landscape.
type Seed struct {
	// Name is that of the Seed, Kubeconfig the path of an administrator's.
	Name, Kubeconfig string
	// Audits are the audit logs of its API servers.
	Audits []audit.Log
	// Logs is the folder with the logs of its pods, as <namespace>/<pod>/<container>.log.
	Logs string
	// ShootAudits returns the audit logs of a shoot's API servers, by its technical ID. Nil if they have none.
	ShootAudits func(technicalID string) []audit.Log
}

// UpgradeStep is the name of the step that needs a second version of Kubernetes.
const UpgradeStep = "upgrade"

// Step is a step of a Shoot's life.
type Step struct {
	// Name is for command lines, Sentence for people.
	Name, Sentence string

	// skip says why the step cannot run in a landscape, empty if it can.
	skip func(r *run) string
	// do is the step: it acts, and waits.
	do func(ctx context.Context, r *run) error
	// shoot is the name of the only Shoot that the step deals with, empty for the main Shoot. Such a step runs beside the next ones, up to the first that
	// is alone, if the Shoot is in a seed of its own.
	shoot string
	// alone is true for a step that concerns all Shoots, or all seeds.
	alone bool
	// limit bounds the step's time.
	limit time.Duration
	// without are checks that make no sense after the step.
	without checkSet
	// expected are errors that the step causes, with their reasons.
	expected []expectedError
	// calls are what our programs may call in addition to the budgets, because the step adds to what is there.
	calls map[string]int
}

// shootName is the name of the Shoot that the step deals with.
func (s Step) shootName() string {
	if s.shoot == "" {
		return mainShoot
	}
	return s.shoot
}

// Steps are all steps, in order.
func Steps() []Step {
	return slices.Concat(stepsOfMachines(), stepsOfOtherShoots(), stepsOfOperation(), stepsOfFaults(), stepsOfNetwork(), stepsOfEnd())
}

// Select returns the named steps in the order of Steps, all without names.
func Select(names []string) ([]Step, error) {
	all := Steps()
	if len(names) == 0 {
		return all, nil
	}
	var selected []Step
	for _, step := range all {
		if slices.Contains(names, step.Name) {
			selected = append(selected, step)
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(all, func(s Step) bool { return s.Name == name }) {
			return nil, fmt.Errorf("there is no step %q; steps are %s", name, stepNames(all))
		}
	}
	return selected, nil
}

func stepNames(steps []Step) string {
	names := make([]string, 0, len(steps))
	for _, step := range steps {
		names = append(names, step.Name)
	}
	return strings.Join(names, ", ")
}

// Run runs the named steps, all without names, and writes the report to the run's folder. It fails if a step fails, which is the last one then, or
// if a check finds something wrong. The report is complete in either case.
func Run(ctx context.Context, landscape Landscape, names []string) (Report, error) {
	steps, err := Select(names)
	if err != nil {
		return Report{}, err
	}
	r, err := newRun(ctx, landscape)
	if err != nil {
		return Report{}, err
	}
	report := r.runSteps(ctx, steps)
	report.StandIns = slices.Concat(landscape.StandIns, r.standIns())
	err = errors.Join(r.stop(), report.write(landscape.Dir, r.recorder.Samples()))
	for _, line := range report.lines() {
		_, _ = fmt.Fprintln(landscape.Out, line)
	}
	_, _ = fmt.Fprintf(landscape.Out, "\nThe timeline is %s.\n", filepath.Join(landscape.Dir, timelinePage))
	return report, errors.Join(err, report.Err())
}

package inspect

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
)

// line is one line about an object, common to all outputs for people.
type line struct {
	// label says what the line is about; it is empty for a further line of the same subject.
	label, text string
	state       State
}

// linesOf describes an object.
func linesOf(object Object, now time.Time) []line {
	lines := operationLines(object, now)
	for _, condition := range object.Conditions {
		lines = append(lines, line{"condition", conditionClause(condition, now), condition.state()})
	}
	lines = append(lines, managedResourceLines(object.ManagedResources, now)...)
	for _, d := range object.MachineDeployments {
		state := StateHealthy
		if !d.isDone() {
			state = StateProgressing
		}
		lines = append(lines, line{"machines", fmt.Sprintf("%s: %d wanted, %d exist, %d ready, %d updated", d.Name, d.Wanted, d.Exist, d.Ready, d.Updated), state})
	}
	for _, machine := range object.FailedMachines {
		lines = append(lines, line{"machine", machineClause(machine, now), StateUnhealthy})
	}
	if object.ResourcesError != "" {
		lines = append(lines, line{"resources", object.ResourcesError, StateUnhealthy})
	}
	return lines
}

func operationLines(object Object, now time.Time) []line {
	var lines []line
	if object.DeletedAt != nil {
		lines = append(lines, line{"deletion", "requested " + ago(*object.DeletedAt, now), StateProgressing})
	}
	if last := object.LastOperation; last != nil {
		clause := fmt.Sprintf("%s %s, %d %%, %s", last.Type, last.State, last.Progress, ago(last.At, now))
		lines = append(lines, line{"operation", clause, last.state()})
		if last.Description != "" && last.state() != StateHealthy {
			lines = append(lines, line{"", last.Description, last.state()})
		}
	} else {
		lines = append(lines, line{"operation", "none: no controller has worked on it yet", StateProgressing})
	}
	if request := object.Request; request != nil {
		state, clause := StateProgressing, request.Operation
		if request.At != nil {
			clause += ", " + ago(*request.At, now)
		}
		if request.Unserved {
			state = StateUnhealthy
		}
		lines = append(lines, line{"request", clause + ": " + request.Message, state})
	}
	if last := object.LastError; last != nil {
		clause := last.Description + inParentheses(last.Codes)
		if last.At != nil {
			clause = ago(*last.At, now) + ": " + clause
		}
		lines = append(lines, line{"error", clause, StateUnhealthy})
	}
	return lines
}

func conditionClause(condition Condition, now time.Time) string {
	clause := fmt.Sprintf("%s is %s", condition.Type, condition.Status)
	if !condition.Since.IsZero() {
		clause += " for " + duration.HumanDuration(now.Sub(condition.Since))
	}
	if condition.state() == StateHealthy {
		return clause
	}
	return clause + ": " + strings.Join(nonEmpty(condition.Reason, condition.Message), ": ") + inParentheses(condition.Codes)
}

func managedResourceLines(resources *ManagedResources, now time.Time) []line {
	if resources == nil {
		return nil
	}
	if len(resources.Problems) == 0 {
		return []line{{"deployed", fmt.Sprintf("ManagedResources: %d, all are applied and healthy", resources.Total), StateHealthy}}
	}
	lines := []line{{"deployed", fmt.Sprintf("ManagedResources: %d, %d with problems", resources.Total, len(resources.Problems)), StateProgressing}}
	for _, p := range resources.Problems {
		clause := p.Name + " " + p.Problem
		if p.Since != nil {
			clause += " for " + duration.HumanDuration(now.Sub(*p.Since))
		}
		lines = append(lines, line{"", strings.Join(nonEmpty(clause, p.Message), ": "), p.State})
	}
	return lines
}

func machineClause(machine Machine, now time.Time) string {
	clause := machine.Name + " is " + machine.Phase
	if machine.Phase == "" {
		clause = machine.Name
	}
	if machine.Operation != "" {
		clause += ", " + machine.Operation + " failed"
		if !machine.At.IsZero() {
			clause += " " + ago(machine.At, now)
		}
	}
	return strings.Join(nonEmpty(clause, machine.Code, machine.Message), ": ")
}

// title names an object.
func title(object Object) string {
	return fmt.Sprintf("%s %s (%s)", object.Kind, object.Name, object.Type)
}

// summary is the first line about a report.
func summary(report Report) string {
	unhealthy := 0
	for _, object := range report.Objects {
		if object.State != StateHealthy {
			unhealthy++
		}
	}
	clause := fmt.Sprintf("%d of %d objects are healthy", len(report.Objects)-unhealthy, len(report.Objects))
	if len(report.Objects) == 0 {
		clause = "no Infrastructure, ControlPlane, Network or Worker, as for a shoot without workers"
	}
	return fmt.Sprintf("%s at %s: %s, %s", report.Namespace, report.At.Format(time.RFC3339), report.State, clause)
}

// resourceClause describes a resource after its kind and ID.
func resourceClause(resource Resource) string {
	return strings.Join(nonEmpty(resource.Origin.clause(), resource.Note), "; ")
}

func ago(at, now time.Time) string { return duration.HumanDuration(now.Sub(at)) + " ago" }

func inParentheses(codes []string) string {
	if len(codes) == 0 {
		return ""
	}
	return " (" + strings.Join(codes, ", ") + ")"
}

func nonEmpty(texts ...string) []string {
	var kept []string
	for _, t := range texts {
		if t != "" {
			kept = append(kept, t)
		}
	}
	return kept
}

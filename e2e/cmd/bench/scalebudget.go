package main

import (
	"errors"
	"fmt"
)

// Budgets of the controllers of all contracts together.
const (
	// createWrites, reconcileWrites and deleteWrites are how many writes to the API server a shoot may cost, besides those of the status of its extension
	// objects. A reconciliation without changes takes one for each of the four objects, which removes the annotation.
	createWrites, reconcileWrites, deleteWrites = 40, 4, 36
	// growth is by how much requests and calls per shoot may exceed those of fewer shoots: polls while something is awaited depend on time.
	growth = 1.25
	// slack is how many more requests or calls than that are permitted for each shoot: with one shoot, they may be fewer than one.
	slack = 1.0
	// idleRequests is how many requests to the API server a second may take while nothing has to be done.
	idleRequests = 2.0
	// idleCorePercent is how much of a processor's time controllers should take meanwhile. It is shown beside what they took.
	idleCorePercent = 0.2
)

// Budgets of memory in megabytes, for the controllers of all contracts together.
const (
	// emptyAnonymous is without shoots. TestIdle in e2e/idle asserts it, too, and 50 MB with 500 shoots that were there before the start. docs/decisions/0035 says
	// what is left.
	emptyAnonymous = 35
	// workedAnonymousOfFew is at rest after the work of a few shoots, shootsPerMegabyte how many more take one more.
	workedAnonymousOfFew, shootsPerMegabyte = 47, 25
	// residentRatio is the bound of our resident memory as a multiple of the monolith's.
	residentRatio = 1.3
)

// workedAnonymous is the budget of anonymous memory in megabytes, at rest after the work of a number of shoots: 40 kB for each of them.
func workedAnonymous(shoots int) int { return workedAnonymousOfFew + shoots/shootsPerMegabyte }

// checkScale returns an error that names each count that grows faster than the number of shoots, and each that exceeds its budget.
func checkScale(all []scaleResult) error {
	var failures []error
	for i, s := range all {
		failures = append(failures, checkWrites(s), checkIdle(s))
		if i > 0 {
			failures = append(failures, checkGrowth(all[i-1], s))
		}
	}
	return errors.Join(failures...)
}

func checkWrites(s scaleResult) error {
	var failures []error
	for _, budget := range []struct {
		step   string
		writes int
	}{{stepCreate, createWrites}, {stepReconcile, reconcileWrites}, {stepDelete, deleteWrites}, {stepRestart, 0}} {
		// Webhooks and their certificates are registered once, whatever the number of shoots is.
		if got, most := s.step(budget.step).writes(), budget.writes*s.Shoots+processWrites(budget.step); got > most {
			failures = append(failures, fmt.Errorf("%s: %s cost %d writes to the API server, at most %d are allowed", budget.step, count(s.Shoots, "shoot"), got, most))
		}
	}
	return errors.Join(failures...)
}

// processWrites is how many writes the start of all controllers may take.
func processWrites(step string) int {
	if step == stepRestart {
		return 20
	}
	return 0
}

func checkIdle(s scaleResult) error {
	idle := s.step(stepIdle)
	if idle.Seconds > 0 && float64(idle.requests()) > idleRequests*idle.Seconds {
		return fmt.Errorf("idle: with %s %d requests to the API server in %.0f s, at most %.0f a second are allowed: %s",
			count(s.Shoots, "shoot"), idle.requests(), idle.Seconds, idleRequests, inWords(idle.verbs()))
	}
	if n := idle.calls(); n > 0 {
		return fmt.Errorf("idle: with %s %d calls of the cloud: %s", count(s.Shoots, "shoot"), n, inWords(idle.Calls))
	}
	return nil
}

// checkGrowth compares two numbers of shoots: what a shoot costs must not depend on how many there are.
func checkGrowth(few, many scaleResult) error {
	var failures []error
	for _, name := range []string{stepCreate, stepReconcile, stepDelete} {
		less, more := few.step(name), many.step(name)
		for _, of := range []struct {
			what string
			less int
			more int
		}{
			{"requests to the API server", less.requests(), more.requests()},
			{"writes to the API server", less.writes(), more.writes()},
			{"calls of the cloud", less.calls(), more.calls()},
		} {
			before, after := float64(of.less)/float64(few.Shoots), float64(of.more)/float64(many.Shoots)
			if after > before*growth+slack {
				failures = append(failures, fmt.Errorf("%s: a shoot costs %.1f %s with %d shoots, and %.1f with %d: that grows faster than the number of shoots",
					name, before, of.what, few.Shoots, after, many.Shoots))
			}
		}
	}
	return errors.Join(failures...)
}

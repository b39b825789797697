package contracttest

import (
	"fmt"
	"maps"
	"slices"
)

// stableCalls returns the calls to explore: to the cloud all that were seen, to the API server those of every recording.
// How often state is saved depends on the timing of parallel tasks.
func stableCalls(runs [][]Call) []Call {
	times := map[Call]int{}
	for _, call := range slices.Concat(runs...) {
		times[call]++
	}
	maps.DeleteFunc(times, func(call Call, n int) bool { return call.Target == KubeAPI && n < len(runs) })
	return slices.SortedFunc(maps.Keys(times), compareCalls)
}

// enumerate returns the cases, in an order that depends only on the calls.
func (e *exploration[O]) enumerate(calls map[Phase][]Call) []Case {
	var cases []Case
	for _, phase := range e.options.Phases {
		var faults []Fault
		for _, call := range calls[phase] {
			faults = append(faults, faultsOf(phase, call, e.subject.ErrorResponses)...)
		}
		if e.options.MergeFaults {
			faults = mergeFaults(phase, faults)
		}
		for _, fault := range faults {
			cases = append(cases, Case{Phase: phase, Fault: &fault})
		}
	}
	return cases
}

// mergeFaults merges faults that differ only in the call into one, see Options.MergeFaults.
func mergeFaults(phase Phase, faults []Fault) []Fault {
	var all []Fault
	kinds := map[string]int{}
	for _, fault := range faults {
		kind := fmt.Sprint(fault.Type, fault.Error)
		n, found := kinds[kind]
		switch {
		case fault.Type == KillAfter && phase != NoOp && phase != Restore:
			all = append(all, fault)
		case phase == Abandon:
		case found:
			all[n].All = append(all[n].All, fault.Call)
		default:
			kinds[kind] = len(all)
			fault.All = []Call{fault.Call}
			all = append(all, fault)
		}
	}
	return all
}

// faultsOf returns all faults of a call. A read has no effect before or after which one could be injected.
func faultsOf(phase Phase, call Call, errorResponses func(Call) []ErrorResponse) []Fault {
	var faults []Fault
	add := func(faultType FaultType, errorResponse ErrorResponse) {
		faults = append(faults, Fault{Call: call, Type: faultType, Error: errorResponse.Error, Response: errorResponse.Response})
	}
	add(KillBefore, ErrorResponse{})
	if call.IsWrite() {
		add(KillAfter, ErrorResponse{})
	}
	if phase == Abandon {
		return faults
	}
	add(DropBefore, ErrorResponse{})
	if call.IsWrite() {
		add(DropAfter, ErrorResponse{})
	}
	if call.Target == KubeAPI {
		errorResponses = kubeErrorResponses
	}
	for _, errorResponse := range errorResponses(call) {
		add(ReturnError, errorResponse)
		if errorResponse.AfterEffect && call.IsWrite() {
			add(ReturnErrorAfterEffect, errorResponse)
		}
	}
	return faults
}

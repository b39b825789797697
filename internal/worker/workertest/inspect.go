package workertest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// inspector compares a namespace, its machines and the cloud with the expected state.
type inspector struct {
	client    client.Client
	namespace string
	servers   *Servers
	manager   *Manager
	cloud     Cloud
	// others are the resources in the cloud before the shoot.
	others []Resource
}

// inventory is the present content.
type inventory struct {
	deployments machinev1alpha1.MachineDeploymentList
	sets        machinev1alpha1.MachineSetList
	machines    machinev1alpha1.MachineList
	classes     machinev1alpha1.MachineClassList
	secrets     corev1.SecretList
	resources   []Resource
}

func (i *inspector) read(ctx context.Context) (*inventory, []string) {
	h := &inventory{}
	for _, list := range []client.ObjectList{&h.deployments, &h.sets, &h.machines, &h.classes} {
		if err := i.client.List(ctx, list, client.InNamespace(i.namespace)); err != nil {
			return nil, []string{err.Error()}
		}
	}
	purpose := client.MatchingLabels{v1beta1constants.GardenerPurpose: v1beta1constants.GardenPurposeMachineClass}
	if err := i.client.List(ctx, &h.secrets, client.InNamespace(i.namespace), purpose); err != nil {
		return nil, []string{err.Error()}
	}
	now, err := i.cloud.Resources()
	if err != nil {
		return nil, []string{fmt.Sprintf("the cloud cannot be listed: %s", err)}
	}
	var violations []string
	h.resources, violations = splitByOwner(i.others, now)
	for _, name := range i.servers.Lost() {
		violations = append(violations, fmt.Sprintf("the server of machine %s was lost: there was no Machine for a moment", name))
	}
	if err := i.manager.Err(); err != nil {
		violations = append(violations, fmt.Sprintf("the simulated machine-controller-manager fails: %s", err))
	}
	return h, violations
}

// checkReady returns the problems of a shoot that is reported as ready.
func (i *inspector) checkReady(ctx context.Context) []string {
	h, violations := i.read(ctx)
	if h == nil {
		return violations
	}
	report := func(format string, args ...any) { violations = append(violations, fmt.Sprintf(format, args...)) }
	servers, used := i.servers.All(), map[string]bool{}
	machines := map[string]int32{}
	for _, machine := range h.machines.Items {
		machines[machine.Labels[labelName]]++
		used[machine.Spec.Class.Name] = true
		if servers[machine.Spec.ProviderID] != machine.Name {
			report("machine %s has no server", machine.Name)
		}
	}
	if len(servers) != len(h.machines.Items) {
		report("there are %d servers for %d machines", len(servers), len(h.machines.Items))
	}
	for _, d := range h.deployments.Items {
		used[d.Spec.Template.Spec.Class.Name] = true
		if machines[d.Name] != d.Spec.Replicas {
			report("deployment %s has %d machines instead of %d", d.Name, machines[d.Name], d.Spec.Replicas)
		}
		delete(machines, d.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(machines)) {
		report("there are machines of deployment %q, which does not exist", name)
	}
	have := map[string]bool{}
	for _, class := range h.classes.Items {
		have[class.Name] = true
		if class.SecretRef == nil || class.SecretRef.Name != class.Name {
			report("class %s has no secret of its name", class.Name)
		}
	}
	kept := map[string]bool{}
	for _, secret := range h.secrets.Items {
		kept[secret.Name] = true
	}
	for what, names := range map[string]map[string]bool{"classes": have, "secrets of classes": kept} {
		if !maps.Equal(names, used) {
			report("%s: there are %s instead of %s", what, sorted(names), sorted(used))
		}
	}
	return violations
}

func sorted(names map[string]bool) string { return strings.Join(slices.Sorted(maps.Keys(names)), ", ") }

// checkDeleted returns the leftovers of a deleted shoot.
func (i *inspector) checkDeleted(ctx context.Context) []string {
	h, violations := i.read(ctx)
	if h == nil {
		return violations
	}
	left := func(kind, name string) {
		violations = append(violations, fmt.Sprintf("left behind: %s %s", kind, name))
	}
	for _, o := range h.deployments.Items {
		left("MachineDeployment", o.Name)
	}
	for _, o := range h.sets.Items {
		left("MachineSet", o.Name)
	}
	for _, o := range h.machines.Items {
		left("Machine", o.Name)
	}
	for _, o := range h.classes.Items {
		left("MachineClass", o.Name)
	}
	for _, o := range h.secrets.Items {
		left("Secret", o.Name)
	}
	for _, name := range i.servers.All() {
		left("server", name)
	}
	for _, r := range h.resources {
		left(r.Kind, r.Name)
	}
	credentials := &corev1.Secret{}
	key := client.ObjectKey{Namespace: i.namespace, Name: v1beta1constants.SecretNameCloudProvider}
	if err := i.client.Get(ctx, key, credentials); err == nil && len(credentials.Finalizers) > 0 {
		left("finalizers on Secret", credentials.Name)
	}
	return violations
}

// content is what must be the same in every run, without random parts.
func (h *inventory) content() []string {
	var lines []string
	for _, d := range h.deployments.Items {
		lines = append(lines, fmt.Sprintf("MachineDeployment %s: %d of %s", d.Name, d.Spec.Replicas, d.Spec.Template.Spec.Class.Name))
	}
	for _, class := range h.classes.Items {
		lines = append(lines, "MachineClass "+class.Name)
	}
	for _, r := range h.resources {
		lines = append(lines, fmt.Sprintf("%s %q %s", r.Kind, r.Name, r.Facts))
	}
	slices.Sort(lines)
	return lines
}

// expectation is the content of a complete shoot: numbers of resources by kind, and otherwise the content after the first run, which has
// no faults.
type expectation struct {
	want map[string]int

	mutex    sync.Mutex
	baseline []string
}

func (e *expectation) differences(h *inventory) []string {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	kinds := map[string]int{}
	for _, r := range h.resources {
		kinds[r.Kind]++
	}
	if !maps.Equal(kinds, e.want) {
		return []string{fmt.Sprintf("the cloud holds %v instead of %v", kinds, e.want)}
	}
	have := h.content()
	if e.baseline == nil {
		e.baseline = have
	}
	if !slices.Equal(have, e.baseline) {
		return []string{fmt.Sprintf("there is\n%s\ninstead of\n%s", strings.Join(have, "\n"), strings.Join(e.baseline, "\n"))}
	}
	return nil
}

// splitByOwner returns the shoot's resources, and changes of those of others.
func splitByOwner(before, now []Resource) (ours []Resource, violations []string) {
	others := map[string]Resource{}
	for _, r := range before {
		others[r.Kind+" "+r.ID] = r
	}
	for _, r := range now {
		was, existed := others[r.Kind+" "+r.ID]
		delete(others, r.Kind+" "+r.ID)
		switch {
		case !existed:
			ours = append(ours, r)
		case was != r:
			violations = append(violations, fmt.Sprintf("foreign %s %q was changed", r.Kind, r.Name))
		}
	}
	for _, r := range others {
		violations = append(violations, fmt.Sprintf("foreign %s %q was removed", r.Kind, r.Name))
	}
	slices.Sort(violations)
	return ours, violations
}

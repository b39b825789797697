package csi

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/trellis-garden/trellis/internal/controlplane/rbac"
)

const (
	groupStorage   = "storage.k8s.io"
	groupSnapshots = "snapshot.storage.k8s.io"
)

// eventsRule are the permissions for writing events.
func eventsRule() rbacv1.PolicyRule {
	return rbac.Rule("", "events", "list", "watch", "create", "update", "patch")
}

// The finalizers on VolumeSnapshots of version 6 keep a snapshot while volumes are created from it.
func provisionerRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		rbac.WatchRule("", "persistentvolumes", "create", "patch", "delete"),
		rbac.WatchRule("", "persistentvolumeclaims", "update"),
		rbac.WatchRule("", "nodes"),
		eventsRule(),
		rbac.WatchRule(groupStorage, "storageclasses"),
		rbac.WatchRule(groupStorage, "csinodes"),
		rbac.WatchRule(groupStorage, "volumeattachments"),
		rbac.WatchRule(groupSnapshots, "volumesnapshots", "update"),
		rbac.Rule(groupSnapshots, "volumesnapshotcontents", "get", "list"),
	}
}

func attacherRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		rbac.WatchRule("", "persistentvolumes", "patch"),
		rbac.WatchRule(groupStorage, "csinodes"),
		rbac.WatchRule(groupStorage, "volumeattachments", "patch"),
		rbac.Rule(groupStorage, "volumeattachments/status", "patch"),
	}
}

func snapshotterRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		eventsRule(),
		rbac.WatchRule(groupSnapshots, "volumesnapshotclasses"),
		rbac.WatchRule(groupSnapshots, "volumesnapshotcontents", "update", "patch"),
		rbac.Rule(groupSnapshots, "volumesnapshotcontents/status", "update", "patch"),
	}
}

func resizerRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		rbac.WatchRule("", "persistentvolumes", "patch"),
		rbac.WatchRule("", "persistentvolumeclaims"),
		rbac.Rule("", "persistentvolumeclaims/status", "patch"),
		eventsRule(),
		rbac.WatchRule(groupStorage, "volumeattributesclasses"),
	}
}

func snapshotControllerRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		rbac.WatchRule("", "persistentvolumes"),
		rbac.WatchRule("", "persistentvolumeclaims", "update"),
		eventsRule(),
		rbac.WatchRule(groupSnapshots, "volumesnapshotclasses"),
		rbac.WatchRule(groupSnapshots, "volumesnapshotcontents", "create", "update", "patch", "delete"),
		rbac.Rule(groupSnapshots, "volumesnapshotcontents/status", "patch"),
		rbac.WatchRule(groupSnapshots, "volumesnapshots", "create", "update", "patch", "delete"),
		rbac.Rule(groupSnapshots, "volumesnapshots/status", "update", "patch"),
	}
}

// permissions returns one entry for each ServiceAccount, in the drivers' order. Drivers may share an account, which then has the permissions of all of them.
func permissions(drivers []Driver) []rbac.Permissions {
	var (
		all   []rbac.Permissions
		index = map[string]int{}
	)
	add := func(prefix, account string, rules []rbacv1.PolicyRule) {
		at, known := index[account]
		if !known {
			at = len(all)
			index[account], all = at, append(all, rbac.Permissions{Name: prefix + account, Account: account, SystemRules: leaseRules()})
		}
		all[at].Rules = union(all[at].Rules, rules)
	}
	for _, driver := range drivers {
		for _, sidecar := range driver.Controller.standardSidecars() {
			add(driver.RolePrefix, sidecar.use.ShootAccess, slices.Concat(sidecar.rules, sidecar.use.Rules))
		}
	}
	if HasSnapshots(drivers) {
		add(drivers[0].RolePrefix, snapshotController, snapshotControllerRules())
	}
	return all
}

// leaseRules are for the Lease of the leader election, which is read, created and updated, but never listed or deleted. Its name is the driver's.
func leaseRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{rbac.Rule("coordination.k8s.io", "leases", "get", "create", "update")}
}

// union appends rules that are missing.
func union(rules, more []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	for _, candidate := range more {
		known := func(rule rbacv1.PolicyRule) bool { return equality.Semantic.DeepEqual(rule, candidate) }
		if !slices.ContainsFunc(rules, known) {
			rules = append(rules, candidate)
		}
	}
	return rules
}

package csi

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	groupStorage   = "storage.k8s.io"
	groupSnapshots = "snapshot.storage.k8s.io"
)

func rule(group, resource string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}
}

// watchRule are the permissions for a cache of a resource.
func watchRule(group, resource string, more ...string) rbacv1.PolicyRule {
	return rule(group, resource, append([]string{"get", "list", "watch"}, more...)...)
}

// eventsRule are the permissions for writing events.
func eventsRule() rbacv1.PolicyRule {
	return rule("", "events", "list", "watch", "create", "update", "patch")
}

// The finalizers on VolumeSnapshots of version 6 keep a snapshot while volumes are created from it.
func provisionerRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		watchRule("", "persistentvolumes", "create", "patch", "delete"),
		watchRule("", "persistentvolumeclaims", "update"),
		watchRule("", "nodes"),
		eventsRule(),
		watchRule(groupStorage, "storageclasses"),
		watchRule(groupStorage, "csinodes"),
		watchRule(groupStorage, "volumeattachments"),
		watchRule(groupSnapshots, "volumesnapshots", "update"),
		rule(groupSnapshots, "volumesnapshotcontents", "get", "list"),
	}
}

func attacherRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		watchRule("", "persistentvolumes", "patch"),
		watchRule(groupStorage, "csinodes"),
		watchRule(groupStorage, "volumeattachments", "patch"),
		rule(groupStorage, "volumeattachments/status", "patch"),
	}
}

func snapshotterRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		eventsRule(),
		watchRule(groupSnapshots, "volumesnapshotclasses"),
		watchRule(groupSnapshots, "volumesnapshotcontents", "update", "patch"),
		rule(groupSnapshots, "volumesnapshotcontents/status", "update", "patch"),
	}
}

func resizerRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		watchRule("", "persistentvolumes", "patch"),
		watchRule("", "persistentvolumeclaims"),
		rule("", "persistentvolumeclaims/status", "patch"),
		eventsRule(),
		watchRule(groupStorage, "volumeattributesclasses"),
	}
}

func snapshotControllerRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		watchRule("", "persistentvolumes"),
		watchRule("", "persistentvolumeclaims", "update"),
		eventsRule(),
		watchRule(groupSnapshots, "volumesnapshotclasses"),
		watchRule(groupSnapshots, "volumesnapshotcontents", "create", "update", "patch", "delete"),
		rule(groupSnapshots, "volumesnapshotcontents/status", "patch"),
		watchRule(groupSnapshots, "volumesnapshots", "create", "update", "patch", "delete"),
		rule(groupSnapshots, "volumesnapshots/status", "update", "patch"),
	}
}

// permission are the permissions of a ServiceAccount in the shoot's kube-system.
type permission struct {
	// prefix and account form the names of roles and bindings.
	prefix, account string
	rules           []rbacv1.PolicyRule
}

// permissions returns one entry for each ServiceAccount, in the drivers' order. Drivers may share an account, which then has the permissions of all of them.
func permissions(drivers []Driver) []permission {
	var (
		all   []permission
		index = map[string]int{}
	)
	add := func(prefix, account string, rules []rbacv1.PolicyRule) {
		at, known := index[account]
		if !known {
			at = len(all)
			index[account], all = at, append(all, permission{prefix: prefix, account: account})
		}
		all[at].rules = union(all[at].rules, rules)
	}
	for _, driver := range drivers {
		for _, sidecar := range driver.Controller.standardSidecars() {
			add(driver.RolePrefix, sidecar.use.ShootAccess, sidecar.rules)
		}
	}
	if HasSnapshots(drivers) {
		add(drivers[0].RolePrefix, snapshotController, snapshotControllerRules())
	}
	return all
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

// objects returns the roles and bindings. Those in kube-system are for the Lease of the leader election, which is read, created and updated, but never
// listed or deleted.
func (r permission) objects() []client.Object {
	var (
		name    = r.prefix + r.account
		global  = metav1.ObjectMeta{Name: name}
		local   = metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceSystem}
		subject = []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: r.account, Namespace: metav1.NamespaceSystem}}
	)
	return []client.Object{
		&rbacv1.ClusterRole{
			TypeMeta: rbacKind("ClusterRole"), ObjectMeta: global, Rules: r.rules,
		},
		&rbacv1.ClusterRoleBinding{
			TypeMeta: rbacKind("ClusterRoleBinding"), ObjectMeta: global, Subjects: subject,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		},
		&rbacv1.Role{
			TypeMeta: rbacKind("Role"), ObjectMeta: local,
			Rules: []rbacv1.PolicyRule{rule("coordination.k8s.io", "leases", "get", "create", "update")},
		},
		&rbacv1.RoleBinding{
			TypeMeta: rbacKind("RoleBinding"), ObjectMeta: local, Subjects: subject,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		},
	}
}

func rbacKind(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: kind}
}

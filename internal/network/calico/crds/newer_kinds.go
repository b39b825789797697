package crds

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// kind is the definition of a kind whose schema is open.
type kind struct {
	group, version, kind, plural string
	// singular is the kind in lower case where it is empty.
	singular   string
	shortNames []string
	namespaced bool
	// status is true when the status is a subresource.
	status bool
	// approved is the URL of Kubernetes' approval of the kind, which the API server requires for its groups.
	approved string
}

// newerKinds are those that Calico reads, or read until its last release but one, and that the files do not contain. The two that it no longer reads are
// kept: deleting a definition deletes the objects of users.
func newerKinds() []kind {
	const (
		calico, v1 = "crd.projectcalico.org", "v1"
		policy     = "policy.networking.k8s.io"
		approvals  = "https://github.com/kubernetes-sigs/network-policy-api/pull/"
	)
	return []kind{
		{group: calico, version: v1, kind: "StagedGlobalNetworkPolicy", plural: "stagedglobalnetworkpolicies"},
		{group: calico, version: v1, kind: "StagedKubernetesNetworkPolicy", plural: "stagedkubernetesnetworkpolicies", namespaced: true},
		{group: calico, version: v1, kind: "StagedNetworkPolicy", plural: "stagednetworkpolicies", namespaced: true},
		{group: calico, version: v1, kind: "Tier", plural: "tiers"},
		{
			group: policy, version: "v1alpha1", kind: "AdminNetworkPolicy", plural: "adminnetworkpolicies",
			shortNames: []string{"anp"}, status: true, approved: approvals + "30",
		},
		{
			group: policy, version: "v1alpha1", kind: "BaselineAdminNetworkPolicy", plural: "baselineadminnetworkpolicies",
			shortNames: []string{"banp"}, status: true, approved: approvals + "30",
		},
		{
			group: policy, version: "v1alpha2", kind: "ClusterNetworkPolicy", plural: "clusternetworkpolicies",
			shortNames: []string{"cnp"}, status: true, approved: approvals + "300",
		},
	}
}

func multusKinds() []kind {
	return []kind{{
		group: "k8s.cni.cncf.io", version: "v1", kind: "NetworkAttachmentDefinition", plural: "network-attachment-definitions",
		singular: "network-attachment-definition", shortNames: []string{"net-attach-def"}, namespaced: true,
	}}
}

func definitionsOf(kinds []kind) []*unstructured.Unstructured {
	definitions := make([]*unstructured.Unstructured, 0, len(kinds))
	for _, k := range kinds {
		definitions = append(definitions, k.definition())
	}
	return definitions
}

func (k kind) definition() *unstructured.Unstructured {
	annotations := map[string]any{
		"gardener.cloud/description": "Only names the kind " + k.kind + ": its schema admits every field, and who reads the objects checks them.",
	}
	if k.approved != "" {
		annotations["api-approved.kubernetes.io"] = k.approved
	}
	version := map[string]any{
		"name": k.version, "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": objectWithUnknownFields(map[string]any{
			"apiVersion": map[string]any{"type": "string"},
			"kind":       map[string]any{"type": "string"},
			"metadata":   map[string]any{"type": "object"},
			"spec":       objectWithUnknownFields(nil),
			"status":     objectWithUnknownFields(nil),
		})},
	}
	if k.status {
		version["subresources"] = map[string]any{"status": map[string]any{}}
	}
	scope := "Cluster"
	if k.namespaced {
		scope = "Namespaced"
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1",
		"kind":       "CustomResourceDefinition",
		"metadata":   map[string]any{"name": k.plural + "." + k.group, "annotations": annotations},
		"spec":       map[string]any{"group": k.group, "names": k.names(), "scope": scope, "versions": []any{version}},
	}}
}

func (k kind) names() map[string]any {
	names := map[string]any{"kind": k.kind, "listKind": k.kind + "List", "plural": k.plural, "singular": k.singular}
	if k.singular == "" {
		names["singular"] = strings.ToLower(k.kind)
	}
	if len(k.shortNames) > 0 {
		short := make([]any, 0, len(k.shortNames))
		for _, name := range k.shortNames {
			short = append(short, name)
		}
		names["shortNames"] = short
	}
	return names
}

func objectWithUnknownFields(properties map[string]any) map[string]any {
	schema := map[string]any{"type": "object", preserveKey: true}
	if properties != nil {
		schema["properties"] = properties
	}
	return schema
}

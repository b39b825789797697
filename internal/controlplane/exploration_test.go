package controlplane_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/controlplane"
	"github.com/trellis-garden/trellis/internal/controlplane/controlplanetest"
)

func TestExplore(t *testing.T) {
	t.Parallel()
	controlplanetest.RunExploration(t, controlplane.APIServer().Get(t), subjectOf(t, &driver{}), contracttest.Options{})
}

func TestExplore_FromUpstream(t *testing.T) {
	t.Parallel()
	d := &driver{}
	subject := subjectOf(t, d)
	fromUpstream(t, d)(&subject)
	controlplanetest.RunExploration(t, controlplane.APIServer().Get(t), subject, contracttest.Options{
		Phases: []contracttest.Phase{contracttest.Create}, Filter: "every call once",
	})
}

// faultyActuator is the right actuator with a client that makes an error of it.
type faultyActuator struct {
	controlplane.Actuator
	reconcile, delete func(client.Client) client.Client
}

type reconciliation = contract.Reconciliation[*extensionsv1alpha1.ControlPlane]

func (b faultyActuator) Reconcile(ctx context.Context, rec *reconciliation) error {
	if b.reconcile != nil {
		rec.Client = b.reconcile(rec.Client)
	}
	return b.Actuator.Reconcile(ctx, rec)
}

func (b faultyActuator) Delete(ctx context.Context, rec *reconciliation) error {
	if b.delete != nil {
		rec.Client = b.delete(rec.Client)
	}
	return b.Actuator.Delete(ctx, rec)
}

// notFoundClient does not know one ManagedResource.
type notFoundClient struct{ client.Client }

func (f notFoundClient) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if key.Name == controlplanetest.ShootCRDs {
		return apierrors.NewNotFound(resourcesv1alpha1.Resource("managedresources"), key.Name)
	}
	return f.Client.Get(ctx, key, object, options...)
}

// earlyDeleteClient removes the Secrets of a ManagedResource before it refers to others.
type earlyDeleteClient struct{ client.Client }

func (h earlyDeleteClient) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.PatchOption) error {
	if _, ok := object.(*resourcesv1alpha1.ManagedResource); ok {
		found := &resourcesv1alpha1.ManagedResource{}
		if err := h.Get(ctx, client.ObjectKeyFromObject(object), found); err != nil {
			return err
		}
		for _, ref := range found.Spec.SecretRefs {
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: found.Namespace, Name: ref.Name}}
			if err := h.Delete(ctx, secret); client.IgnoreNotFound(err) != nil {
				return err
			}
		}
	}
	return h.Client.Patch(ctx, object, patch, options...)
}

// hiddenManifestsClient finds manifests only by the ManagedResource that refers to them.
type hiddenManifestsClient struct{ client.Client }

func (n hiddenManifestsClient) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	err := n.Client.List(ctx, list, options...)
	if secrets, ok := list.(*metav1.PartialObjectMetadataList); ok {
		secrets.Items = slices.DeleteFunc(secrets.Items, func(secret metav1.PartialObjectMetadata) bool {
			return strings.HasPrefix(secret.Name, "managedresource-")
		})
	}
	return err
}

// caDroppingActuator takes no CA that it has not made.
type caDroppingActuator struct{ controlplane.Actuator }

func (f caDroppingActuator) Reconcile(ctx context.Context, rec *reconciliation) error {
	if rec.Operation == gardencorev1beta1.LastOperationTypeRestore {
		if err := rec.Client.DeleteAllOf(ctx, &corev1.Secret{}, client.InNamespace(rec.Object.Namespace), client.MatchingLabels{"persist": "true"}); err != nil {
			return err
		}
	}
	return f.Actuator.Reconcile(ctx, rec)
}

// TestExplore_DetectsDefects shows that it would find out what it is there to find out.
func TestExplore_DetectsDefects(t *testing.T) {
	for name, test := range map[string]struct {
		change   func(controlplane.Actuator) controlplane.Actuator
		upstream bool
		phase    contracttest.Phase
		want     string
	}{
		"a controller that forgets a ManagedResource": {
			change: func(a controlplane.Actuator) controlplane.Actuator {
				return faultyActuator{Actuator: a, delete: func(c client.Client) client.Client { return notFoundClient{c} }}
			},
			phase: contracttest.Create, want: "left behind: ManagedResource extension-controlplane-shoot-crds",
		},
		"a controller that removes what is still referred to": {
			change: func(a controlplane.Actuator) controlplane.Actuator {
				return faultyActuator{Actuator: a, reconcile: func(c client.Client) client.Client { return earlyDeleteClient{c} }}
			},
			upstream: true, phase: contracttest.Create, want: "refers to Secret extension-controlplane-",
		},
		"a controller that does not find again what it had no time to refer to": {
			change: func(a controlplane.Actuator) controlplane.Actuator {
				return faultyActuator{Actuator: a, delete: func(c client.Client) client.Client { return hiddenManifestsClient{c} }}
			},
			phase: contracttest.Abandon, want: "left behind: Secret managedresource-extension-controlplane-",
		},
		"a controller that takes a new CA to another seed": {
			change: func(a controlplane.Actuator) controlplane.Actuator { return caDroppingActuator{a} },
			phase:  contracttest.Restore, want: "the CA has been replaced",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &driver{}
			subject := subjectOf(t, d)
			if test.upstream {
				fromUpstream(t, d)(&subject)
			}
			withActuator(t, d, time.Minute, test.change)(&subject)
			report, err := controlplanetest.Explore(t.Context(), controlplane.APIServer().Get(t), subject,
				contracttest.Options{MaxFailures: 1, MergeFaults: true, Deadline: time.Minute, Phases: []contracttest.Phase{test.phase}})
			require.NoError(t, err)
			require.NotEmpty(t, report.Failures, "%s", report)
			assert.Contains(t, report.Failures[0].String(), test.want)
		})
	}
}

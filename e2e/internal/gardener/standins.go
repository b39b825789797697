package gardener

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"strings"
	"time"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/trellis-garden/trellis/e2e/internal/standin"
)

// answer reports success for an object whose controller does not run here.
type answer struct {
	kind schema.GroupVersionKind
	// operation is the annotation that asks for a reconciliation, besides Gardener's.
	operation string
	// answered reports whether the status is up to date, status changes it.
	answered func(object *unstructured.Unstructured) bool
	status   func(object *unstructured.Unstructured, operation string)
	// before creates what the status refers to; nil for nothing.
	before func(ctx context.Context, cluster client.Client, object *unstructured.Unstructured) error
	// gone is called when an object is gone; nil for nothing.
	gone func(ctx context.Context, cluster client.Client, key client.ObjectKey) error
	// reason is that of the stand-in.
	reason string
}

// StandIns lists what RunStandIns and the garden simulate.
func StandIns() []standin.StandIn {
	all := []standin.StandIn{
		{Name: "authorization of gardenlets", Reason: "gardener-admission-controller does not run, so a gardenlet may do in the garden what gardener-operator grants it without"},
		{Name: "rights of gardenlet in its seed, and of gardener-apiserver and gardener-controller-manager", Reason: "their users are members of system:masters"},
		{Name: "gardener-scheduler", Reason: "shoots name their seed, so that each step knows where it is"},
		{Name: "etcds of shoots' control planes", Reason: "images of etcd-druid cannot be pulled: one etcd without TLS has a prefix for each shoot, which stays when its control plane moves"},
		{Name: "VPN between seed and shoots", Reason: "there are no machines: API servers of shoots reach their addresses directly"},
	}
	for _, a := range answers(netip.Addr{}) {
		all = append(all, standin.StandIn{Name: a.kind.Kind, Reason: a.reason})
	}
	return all
}

func etcdKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "druid.gardener.cloud", Version: "v1alpha1", Kind: "Etcd"}
}

// answers lists all kinds. The address is where serveSnapshots listens.
func answers(snapshots netip.Addr) []answer {
	extension := func(kind, reason string) answer {
		return answer{
			kind: extensionsv1alpha1.SchemeGroupVersion.WithKind(kind), reason: reason, answered: operationSucceeded, status: succeed,
		}
	}
	config := extension(extensionsv1alpha1.OperatingSystemConfigResource, "no machine boots, so its scripts are empty")
	config.before, config.status = createUserData, func(object *unstructured.Unstructured, operation string) {
		succeed(object, operation)
		referToUserData(object)
	}
	entry := extension(extensionsv1alpha1.BackupEntryResource, "etcds have no backups")
	entry.before = createBackupSecret
	monitoring := func(kind string) answer {
		return answer{
			kind:   schema.GroupVersionKind{Group: "monitoring.coreos.com", Version: "v1", Kind: kind},
			reason: "images of prometheus-operator cannot be pulled", answered: available, status: setAvailable,
		}
	}
	return []answer{
		extension(extensionsv1alpha1.DNSRecordResource, "there is no DNS: names are in /etc/hosts"),
		config,
		extension(extensionsv1alpha1.ContainerRuntimeResource, "no machine boots"),
		extension(extensionsv1alpha1.ExtensionResource, "no extension of this kind is registered"),
		extension(extensionsv1alpha1.BackupBucketResource, "etcds have no backups"),
		entry,
		{
			kind: etcdKind(), operation: "druid.gardener.cloud/operation",
			reason: "images of etcd-druid cannot be pulled", answered: observed, status: setEtcdReady, gone: removeEtcdData,
			before: func(ctx context.Context, cluster client.Client, etcd *unstructured.Unstructured) error {
				return createClientService(ctx, cluster, etcd, snapshots)
			},
		},
		{
			kind:   etcdKind().GroupVersion().WithKind("EtcdCopyBackupsTask"),
			reason: "etcds have no backups: both seeds have their data", answered: observed,
			status: func(object *unstructured.Unstructured, _ string) {
				set(object, object.GetGeneration(), "observedGeneration")
				set(object, conditions(map[string]any{"lastUpdateTime": soon()}, "Succeeded"), "conditions")
			},
		},
		monitoring("Prometheus"), monitoring("Alertmanager"),
	}
}

// RunStandIns answers for controllers that do not run, in a seed, until ctx ends.
func RunStandIns(ctx context.Context, seed *Seed) error {
	mgr, err := manager.New(seed.Config, manager.Options{
		Logger: logr.Discard(), Metrics: metricsserver.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: new(true)},
		Client: client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}, &corev1.ConfigMap{}}, Unstructured: true}},
	})
	if err != nil {
		return fmt.Errorf("preparing stand-ins: %w", err)
	}
	if err := mgr.Add(manager.RunnableFunc(func(ctx context.Context) error { return serveSnapshots(ctx, seed.Client, seed.Spec.API) })); err != nil {
		return err
	}
	for _, a := range answers(seed.Spec.API) {
		if err := mgr.Add(manager.RunnableFunc(func(ctx context.Context) error { return a.begin(ctx, mgr) })); err != nil {
			return err
		}
	}
	return mgr.Start(ctx)
}

// begin waits until the kind is there, which gardenlet creates, and begins to answer for its objects.
func (a answer) begin(ctx context.Context, mgr manager.Manager) error {
	if err := await(ctx, time.Second, "kind "+a.kind.Kind, func(context.Context) error {
		_, err := mgr.GetRESTMapper().RESTMapping(a.kind.GroupKind(), a.kind.Version)
		return err
	}); err != nil {
		return nil //nolint:nilerr // the end comes before the kind
	}
	return builder.ControllerManagedBy(mgr).Named(strings.ToLower(a.kind.Kind)).For(a.object()).
		Complete(reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
			err := a.reconcile(ctx, mgr.GetClient(), request.NamespacedName)
			if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
				return reconcile.Result{RequeueAfter: interval}, nil
			}
			return reconcile.Result{}, err
		}))
}

func (a answer) object() *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(a.kind)
	return object
}

// reconcile answers for an object that needs it.
func (a answer) reconcile(ctx context.Context, cluster client.Client, key client.ObjectKey) error {
	object := a.object()
	if err := cluster.Get(ctx, key, object); err != nil {
		if apierrors.IsNotFound(err) && a.gone != nil {
			return a.gone(ctx, cluster, key)
		}
		return client.IgnoreNotFound(err)
	}
	if object.GetDeletionTimestamp() != nil {
		return nil
	}
	operation := a.requested(object)
	if operation == "" && a.answered(object) || operation == v1beta1constants.GardenerOperationWaitForState {
		return nil
	}
	return a.respond(ctx, cluster, object, operation)
}

// respond does as Gardener's library for extensions: it removes the request for a reconciliation before, and that for a migration or restoration after the status has
// been written. gardenlet's controllers take no notice of a status without that.
func (a answer) respond(ctx context.Context, cluster client.Client, object *unstructured.Unstructured, operation string) error {
	moves := operation == v1beta1constants.GardenerOperationMigrate || operation == v1beta1constants.GardenerOperationRestore
	if operation != "" && !moves {
		if err := a.removeRequest(ctx, cluster, object); err != nil {
			return err
		}
	}
	if a.before != nil {
		if err := a.before(ctx, cluster, object); err != nil {
			return err
		}
	}
	if err := a.writeStatus(ctx, cluster, object, operation); err != nil || !moves {
		return err
	}
	return a.removeRequest(ctx, cluster, object)
}

// requested returns the operation that an annotation asks for.
func (a answer) requested(object *unstructured.Unstructured) (operation string) {
	for _, name := range []string{v1beta1constants.GardenerOperation, a.operation} {
		if value := object.GetAnnotations()[name]; value != "" {
			operation = value
		}
	}
	return operation
}

// writeStatus writes the status. An operation is Processing before it has succeeded: gardenlet takes notice of an operation that has changed, and two of one second
// are equal.
func (a answer) writeStatus(ctx context.Context, cluster client.Client, object *unstructured.Unstructured, operation string) error {
	before := object.DeepCopy()
	a.status(object, operation)
	if _, found, _ := unstructured.NestedString(object.Object, "status", "lastOperation", "state"); found {
		set(object, "Processing", "lastOperation", "state")
		if err := cluster.Status().Patch(ctx, object, client.MergeFrom(before)); err != nil {
			return err
		}
		before = object.DeepCopy()
		a.status(object, operation)
	}
	return cluster.Status().Patch(ctx, object, client.MergeFrom(before))
}

// removeRequest removes the annotations that ask for an operation.
func (a answer) removeRequest(ctx context.Context, cluster client.Client, object *unstructured.Unstructured) error {
	before := object.DeepCopy()
	annotations := object.GetAnnotations()
	delete(annotations, v1beta1constants.GardenerOperation)
	delete(annotations, a.operation)
	object.SetAnnotations(annotations)
	return cluster.Patch(ctx, object, client.MergeFrom(before))
}

func operationSucceeded(object *unstructured.Unstructured) bool {
	generation, _, _ := unstructured.NestedInt64(object.Object, "status", "observedGeneration")
	state, _, _ := unstructured.NestedString(object.Object, "status", "lastOperation", "state")
	return generation == object.GetGeneration() && state == "Succeeded"
}

func succeed(object *unstructured.Unstructured, operation string) {
	set(object, object.GetGeneration(), "observedGeneration")
	set(object, map[string]any{
		"type": operationType(operation), "state": "Succeeded", "progress": int64(100), "description": "simulated", "lastUpdateTime": soon(),
	}, "lastOperation")
}

func operationType(operation string) string {
	switch operation {
	case v1beta1constants.GardenerOperationMigrate:
		return "Migrate"
	case v1beta1constants.GardenerOperationRestore:
		return "Restore"
	default:
		return "Reconcile"
	}
}

// soon is the next second. gardenlet takes a status for its own request if it is later than the request, in seconds.
func soon() string { return time.Now().Add(time.Second).UTC().Format(time.RFC3339) }

// set sets a field of the status.
func set(object *unstructured.Unstructured, value any, path ...string) {
	// It only fails for a parent that is no map.
	_ = unstructured.SetNestedField(object.Object, value, append([]string{"status"}, path...)...)
}

// userData is the Secret with the script of an OperatingSystemConfig for new machines; nil for those that exist.
func userData(object *unstructured.Unstructured) *corev1.Secret {
	if purpose, _, _ := unstructured.NestedString(object.Object, "spec", "purpose"); purpose != string(extensionsv1alpha1.OperatingSystemConfigPurposeProvision) {
		return nil
	}
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "osc-result-" + object.GetName(), Namespace: object.GetNamespace(), OwnerReferences: []metav1.OwnerReference{owner(object)}},
		Data:       map[string][]byte{extensionsv1alpha1.OperatingSystemConfigSecretDataKey: []byte("#!/bin/sh\n")},
	}
}

func createUserData(ctx context.Context, cluster client.Client, object *unstructured.Unstructured) error {
	secret := userData(object)
	if secret == nil {
		return nil
	}
	return client.IgnoreAlreadyExists(cluster.Create(ctx, secret))
}

func referToUserData(object *unstructured.Unstructured) {
	if secret := userData(object); secret != nil {
		set(object, map[string]any{"name": secret.Name, "namespace": secret.Namespace}, "cloudConfig", "secretRef")
	}
}

// observed reports whether the status belongs to the generation.
func observed(object *unstructured.Unstructured) bool {
	generation, _, _ := unstructured.NestedInt64(object.Object, "status", "observedGeneration")
	return generation == object.GetGeneration()
}

func setEtcdReady(object *unstructured.Unstructured, _ string) {
	set(object, object.GetGeneration(), "observedGeneration")
	set(object, true, "ready")
	for _, name := range []string{"replicas", "readyReplicas", "currentReplicas"} {
		set(object, int64(1), name)
	}
	set(object, conditions(map[string]any{"lastUpdateTime": soon()}, "Ready", "AllMembersReady", "AllMembersUpdated", "BackupReady", "DataVolumesReady"), "conditions")
	set(object, map[string]any{
		"type": "Reconcile", "state": "Succeeded", "description": "simulated", "runID": "simulated", "lastUpdateTime": soon(),
	}, "lastOperation")
}

// conditions are true. Those of etcd-druid have the time of the last update, those of prometheus-operator the generation: further fields are in more.
func conditions(more map[string]any, types ...string) []any {
	var all []any
	for _, name := range types {
		condition := map[string]any{"type": name, "status": "True", "reason": "Simulated", "message": "simulated", "lastTransitionTime": soon()}
		maps.Copy(condition, more)
		all = append(all, condition)
	}
	return all
}

// available reports whether conditions and replicas of an object of prometheus-operator belong to its generation.
func available(object *unstructured.Unstructured) bool {
	all, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, one := range all {
		condition, isMap := one.(map[string]any)
		return isMap && condition["observedGeneration"] == object.GetGeneration()
	}
	return false
}

func setAvailable(object *unstructured.Unstructured, _ string) {
	set(object, conditions(map[string]any{"observedGeneration": object.GetGeneration()}, "Available", "Reconciled"), "conditions")
	replicas, found, _ := unstructured.NestedInt64(object.Object, "spec", "replicas")
	if !found {
		replicas = 1
	}
	for _, name := range []string{"replicas", "updatedReplicas", "availableReplicas"} {
		set(object, replicas, name)
	}
	set(object, int64(0), "unavailableReplicas")
	set(object, false, "paused")
}

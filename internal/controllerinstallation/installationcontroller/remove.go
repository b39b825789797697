package installationcontroller

import (
	"context"
	"fmt"
	"slices"
	"strings"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/workload"
)

// remove uninstalls the installation: it deletes the objects that gardener-resource-manager applied, the namespace, the ServiceAccount in the garden,
// and at last the finalizer. An installation that is still needed is not removed.
func (r *reconciler) remove(ctx context.Context, rec *reconciliation) (reconcile.Result, error) {
	var err error
	if err = r.connectSeed(ctx, rec); err != nil {
		return reconcile.Result{}, err
	}
	if rec.status.Phase != installationv1alpha1.PhaseDeleting {
		held, err := r.isHeld(ctx, rec)
		if err != nil || held {
			return reconcile.Result{RequeueAfter: wait.Jitter(r.SyncPeriod, 0.1)}, err
		}
		// The phase is written first: once an object is deleted, the removal must not stop because the installation is needed again.
		rec.status.Phase, rec.status.LastError = installationv1alpha1.PhaseDeleting, nil
		return reconcile.Result{RequeueAfter: shortRequeueInterval}, nil
	}
	waitingFor, err := workload.Remove(ctx, rec.cluster, rec.installation.Name)
	if err != nil {
		return reconcile.Result{}, asSeedError(fmt.Errorf("removing the installation from the seed: %w", err))
	}
	if waitingFor != "" {
		rec.setError("DeletionPending", "waiting for "+waitingFor)
		return reconcile.Result{RequeueAfter: min(changingPeriod, r.SyncPeriod)}, nil
	}
	if err := r.removeServiceAccount(ctx, rec); err != nil {
		return reconcile.Result{}, err
	}
	before := rec.installation.DeepCopy()
	controllerutil.RemoveFinalizer(rec.installation, Finalizer)
	controllerutil.RemoveFinalizer(rec.installation, gardenletFinalizer)
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Patch(ctx, rec.installation, patch); client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, fmt.Errorf("releasing ControllerInstallation %s: %w", rec.installation.Name, err)
	}
	r.forget(rec.installation.Name)
	rec.assignment = &assignment{} // there is nothing left to report on
	return reconcile.Result{}, nil
}

// isHeld reports whether the installation is still needed, according to gardenlet's condition or to the objects in the seed. The condition may be out
// of date. gardenlet's condition does not distinguish secondaries, which no object needs.
func (r *reconciler) isHeld(ctx context.Context, rec *reconciliation) (bool, error) {
	if config := rec.assignment.config; config != nil && config.Uninstall.WhileRequired == installationv1alpha1.UninstallProceed {
		return false, nil
	}
	registration, err := r.registrationOf(ctx, rec)
	if err != nil || registration != nil && observesOnly(registration.Spec.Resources) {
		return false, err
	}
	const remedy = "; it goes when that has changed, or with uninstall.whileRequired: Proceed"
	condition := v1beta1helper.GetCondition(rec.installation.Status.Conditions, gardencorev1beta1.ControllerInstallationRequired)
	if condition != nil && condition.Status == gardencorev1beta1.ConditionTrue {
		rec.recordHeld("kept, since the condition Required is True: " + condition.Message + remedy)
		return true, nil
	}
	if registration == nil {
		return false, nil
	}
	needed, err := workload.Needed(ctx, rec.cluster, registration.Spec.Resources)
	if err != nil {
		return false, asSeedError(fmt.Errorf("looking for extension objects in the seed: %w", err))
	}
	if len(needed) == 0 {
		return false, nil
	}
	rec.recordHeld("kept, since the seed has extension objects of " + strings.Join(needed, ", ") + remedy)
	return true, nil
}

func (rec *reconciliation) recordHeld(message string) {
	rec.setError("StillRequired", message)
	rec.status.Phase = installationv1alpha1.PhaseHeld
}

// registrationOf returns the registration of the installation, or nil if it is deleted.
func (r *reconciler) registrationOf(ctx context.Context, rec *reconciliation) (*gardencorev1beta1.ControllerRegistration, error) {
	name := rec.installation.Spec.RegistrationRef.Name
	registration := &gardencorev1beta1.ControllerRegistration{}
	if err := r.Client.Get(ctx, client.ObjectKey{Name: name}, registration); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("reading ControllerRegistration %s: %w", name, err)
	}
	return registration, nil
}

// observesOnly reports whether resources are those of a secondary controller: there are some, and none is primary.
func observesOnly(resources []gardencorev1beta1.ControllerResource) bool {
	return len(resources) > 0 && !slices.ContainsFunc(resources, func(resource gardencorev1beta1.ControllerResource) bool {
		return resource.Primary == nil || *resource.Primary
	})
}

// removeServiceAccount deletes the ServiceAccount that gardenlet has created in the garden for the pods of the installation. gardenlet deletes it
// only for its own installations. An operator in a seed has no permission to do so (SeedAuthorizer): there the account remains unused until the seed
// is deleted.
func (r *reconciler) removeServiceAccount(ctx context.Context, rec *reconciliation) error {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{
		Namespace: workload.GardenNamespace(rec.seed.Name),
		Name:      v1beta1constants.ExtensionGardenServiceAccountPrefix + rec.installation.Name,
	}}
	err := r.Client.Delete(ctx, account)
	if r.inSeed() && apierrors.IsForbidden(err) {
		logf.FromContext(ctx).Info("Could not delete the ServiceAccount in the garden, if there is one", "serviceAccount", client.ObjectKeyFromObject(account).String())
		return nil
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("removing ServiceAccount %s/%s of the garden: %w", account.Namespace, account.Name, err)
	}
	return nil
}

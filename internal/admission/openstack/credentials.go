package openstack

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	securityv1alpha1 "github.com/gardener/gardener/pkg/apis/security/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/apis/openstack/validation"
	"github.com/trellis-garden/trellis/apis/ratcheting"
	"github.com/trellis-garden/trellis/internal/admission"
)

// credentialsLabel is on Secrets and InternalSecrets that a binding of this type refers to. Gardener sets it, and checks by a dry run for a
// new binding whether the Secret could be created with it.
const credentialsLabel = v1beta1constants.LabelShootProviderPrefix + Type

func credentialsWebhooks(garden admission.Garden) []admission.Webhook {
	var (
		core, security = gardencorev1beta1.SchemeGroupVersion, securityv1alpha1.SchemeGroupVersion
		stored         = admission.Labelled(v1beta1constants.LabelShootProviderPrefix, Type)
		bound          = admission.Labelled(v1beta1constants.LabelExtensionProviderTypePrefix, Type)
		validator      = credentialsValidator{garden}
	)
	return []admission.Webhook{{
		Name: "secret." + Type, ObjectSelector: stored, Rules: admission.CreationsAndUpdates("", "v1", "secrets"),
		Handler: admission.Validate(corev1.SchemeGroupVersion.WithKind("Secret"), validator.validateSecret),
	}, {
		Name: "internalsecret." + Type, ObjectSelector: stored, Rules: admission.CreationsAndUpdates(core.Group, core.Version, "internalsecrets"),
		Handler: admission.Validate(core.WithKind("InternalSecret"), validator.validateInternalSecret),
	}, {
		Name: "secretbinding." + Type, ObjectSelector: bound, Rules: admission.CreationsAndUpdates(core.Group, core.Version, "secretbindings"),
		Handler: admission.Validate(core.WithKind("SecretBinding"), validator.validateSecretBinding),
	}, {
		Name: "credentialsbinding." + Type, ObjectSelector: bound,
		Rules:   admission.CreationsAndUpdates(security.Group, security.Version, "credentialsbindings"),
		Handler: admission.Validate(security.WithKind("CredentialsBinding"), validator.validateCredentialsBinding),
	}}
}

// credentialsValidator validates the credentials for OpenStack, and the bindings that refer to them.
type credentialsValidator struct{ garden admission.Garden }

func (c credentialsValidator) validateSecret(ctx context.Context, validateSecret, old *corev1.Secret) (admission.Result, error) {
	if old == nil {
		return validateCreated(validateSecret, validateSecret.Data), nil
	}
	if !areCredentials(validateSecret) && !areCredentials(old) { // removing the label in the same write does not remove the binding
		return admission.Result{}, nil
	}
	return c.validateUpdate(ctx, secretReference(validateSecret.Namespace, validateSecret.Name), validateSecret.Data, old.Data)
}

func (c credentialsValidator) validateInternalSecret(ctx context.Context, secret, old *gardencorev1beta1.InternalSecret) (admission.Result, error) {
	if old == nil {
		return validateCreated(secret, secret.Data), nil
	}
	if !areCredentials(secret) && !areCredentials(old) {
		return admission.Result{}, nil
	}
	reference := corev1.ObjectReference{
		APIVersion: gardencorev1beta1.SchemeGroupVersion.String(), Kind: "InternalSecret", Namespace: secret.Namespace, Name: secret.Name,
	}
	return c.validateUpdate(ctx, reference, secret.Data, old.Data)
}

func secretReference(namespace, name string) corev1.ObjectReference {
	return corev1.ObjectReference{APIVersion: corev1.SchemeGroupVersion.String(), Kind: "Secret", Namespace: namespace, Name: name}
}

func areCredentials(object client.Object) bool { return object.GetLabels()[credentialsLabel] == "true" }

func validateCreated(object client.Object, data map[string][]byte) admission.Result {
	if !areCredentials(object) {
		return admission.Result{}
	}
	path := field.NewPath("data")
	return admission.Result{Errors: validation.ValidateCredentials(data, path), Warnings: validation.CredentialsWarnings(data, path)}
}

// validateUpdate validates an update of the referenced credentials. It lists the shoots only if they could lose their project.
func (c credentialsValidator) validateUpdate(ctx context.Context, reference corev1.ObjectReference, data, oldData map[string][]byte) (admission.Result, error) {
	if maps.EqualFunc(data, oldData, bytes.Equal) {
		return admission.Result{}, nil
	}
	path := field.NewPath("data")
	result := admission.Result{
		Errors:   ratcheting.Introduced(errorsOfUnchangedValues(oldData, data, path), validation.ValidateCredentials(data, path)),
		Warnings: validation.CredentialsWarnings(data, path),
	}
	projectErrors := validation.ValidateCredentialsUpdate(oldData, data, path)
	if len(projectErrors) == 0 {
		return result, nil
	}
	used, err := c.isUsedByShoot(ctx, reference)
	if used {
		result.Errors = append(result.Errors, projectErrors...)
	}
	return result, err
}

// errorsOfUnchangedValues returns the errors of the old object except those about changed values: errors do not contain the values, and so would look
// the same.
func errorsOfUnchangedValues(before, after map[string][]byte, path *field.Path) field.ErrorList {
	changed := map[string]bool{}
	for key, value := range after {
		if !bytes.Equal(value, before[key]) {
			changed[path.Key(key).String()] = true
		}
	}
	return slices.DeleteFunc(validation.ValidateCredentials(before, path), func(fieldError *field.Error) bool { return changed[fieldError.Field] })
}

func (c credentialsValidator) validateSecretBinding(ctx context.Context, binding, old *gardencorev1beta1.SecretBinding) (admission.Result, error) {
	reference := secretReference(cmp.Or(binding.SecretRef.Namespace, binding.Namespace), binding.SecretRef.Name)
	if !hasType(binding) || old != nil && hasType(old) && old.SecretRef == binding.SecretRef {
		return admission.Result{}, nil
	}
	return c.validateReferenced(ctx, reference, field.NewPath("secretRef"))
}

// hasType reports whether a binding is for this type: a binding may have several types.
func hasType(binding *gardencorev1beta1.SecretBinding) bool {
	return binding.Provider != nil && slices.Contains(strings.Split(binding.Provider.Type, ","), Type)
}

func (c credentialsValidator) validateCredentialsBinding(ctx context.Context, binding, old *securityv1alpha1.CredentialsBinding) (admission.Result, error) {
	path, reference := field.NewPath("credentialsRef"), binding.CredentialsRef
	if binding.Provider.Type != Type || old != nil && old.Provider.Type == Type && old.CredentialsRef == reference {
		return admission.Result{}, nil
	}
	if reference.GroupVersionKind().GroupKind() == securityv1alpha1.SchemeGroupVersion.WithKind("WorkloadIdentity").GroupKind() {
		return admission.Result{Errors: field.ErrorList{field.Invalid(path.Child("kind"), reference.Kind,
			"OpenStack knows no workload identities: refer to a Secret with a user's name and password, or with an application credential")}}, nil
	}
	return c.validateReferenced(ctx, reference, path)
}

// validateReferenced validates the credentials that a binding refers to. If they do not exist, Gardener rejects the
// binding.
func (c credentialsValidator) validateReferenced(ctx context.Context, reference corev1.ObjectReference, path *field.Path) (admission.Result, error) {
	data, err := c.garden.Credentials(ctx, reference)
	if data == nil || err != nil {
		return admission.Result{}, err
	}
	var result admission.Result
	for _, fieldError := range validation.ValidateCredentials(data, field.NewPath("data")) {
		result.Errors = append(result.Errors, field.Invalid(path, reference.Namespace+"/"+reference.Name,
			fmt.Sprintf("correct the %s first: %s", reference.Kind, fieldError.Error())))
	}
	return result, nil
}

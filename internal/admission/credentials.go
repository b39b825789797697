package admission

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
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/apis/ratcheting"
)

// Credentials validates the credentials of a provider type, and the bindings that refer to them.
type Credentials struct {
	// Type is the provider type.
	Type   string
	Garden Garden
	// Validate checks the data of a Secret or an InternalSecret. Its errors print no value.
	Validate func(data map[string][]byte, path *field.Path) field.ErrorList
	// Warnings returns what in the data is useless but harms nobody. It may be nil.
	Warnings func(data map[string][]byte, path *field.Path) []string
	// ValidateUsed rejects changes that are not possible while shoots use the credentials. It is nil if all are.
	ValidateUsed func(oldData, data map[string][]byte, path *field.Path) field.ErrorList
	// ValidateIdentity checks the configuration of a WorkloadIdentity. It is nil if the cloud has no such credentials; then InsteadOfIdentity says
	// so, and what to refer to instead.
	ValidateIdentity  func(config *runtime.RawExtension, path *field.Path) field.ErrorList
	InsteadOfIdentity string
}

// Webhooks returns all webhooks of credentials.
func (c Credentials) Webhooks() []Webhook {
	var (
		core, security = gardencorev1beta1.SchemeGroupVersion, securityv1alpha1.SchemeGroupVersion
		stored         = Labelled(v1beta1constants.LabelShootProviderPrefix, c.Type)
		bound          = Labelled(v1beta1constants.LabelExtensionProviderTypePrefix, c.Type)
	)
	webhooks := []Webhook{{
		Name: "secret." + c.Type, ObjectSelector: stored, Rules: CreationsAndUpdates("", "v1", "secrets"),
		Handler: Validate(corev1.SchemeGroupVersion.WithKind("Secret"), c.validateSecret),
	}, {
		Name: "internalsecret." + c.Type, ObjectSelector: stored, Rules: CreationsAndUpdates(core.Group, core.Version, "internalsecrets"),
		Handler: Validate(core.WithKind("InternalSecret"), c.validateInternalSecret),
	}, {
		Name: "secretbinding." + c.Type, ObjectSelector: bound, Rules: CreationsAndUpdates(core.Group, core.Version, "secretbindings"),
		Handler: Validate(core.WithKind("SecretBinding"), c.validateSecretBinding),
	}, {
		Name: "credentialsbinding." + c.Type, ObjectSelector: bound,
		Rules:   CreationsAndUpdates(security.Group, security.Version, "credentialsbindings"),
		Handler: Validate(security.WithKind("CredentialsBinding"), c.validateCredentialsBinding),
	}}
	if c.ValidateIdentity != nil {
		webhooks = append(webhooks, Webhook{
			Name: "workloadidentity." + c.Type, ObjectSelector: bound,
			Rules:   CreationsAndUpdates(security.Group, security.Version, "workloadidentities"),
			Handler: Validate(security.WithKind("WorkloadIdentity"), c.validateWorkloadIdentity),
		})
	}
	return webhooks
}

func (c Credentials) validateSecret(ctx context.Context, secret, old *corev1.Secret) (Result, error) {
	if old == nil {
		return c.validateCreated(secret, secret.Data), nil
	}
	if !c.areLabelled(secret) && !c.areLabelled(old) { // removing the label in the same write does not remove the binding
		return Result{}, nil
	}
	return c.validateUpdate(ctx, secretReference(secret.Namespace, secret.Name), secret.Data, old.Data)
}

func (c Credentials) validateInternalSecret(ctx context.Context, secret, old *gardencorev1beta1.InternalSecret) (Result, error) {
	if old == nil {
		return c.validateCreated(secret, secret.Data), nil
	}
	if !c.areLabelled(secret) && !c.areLabelled(old) {
		return Result{}, nil
	}
	reference := corev1.ObjectReference{
		APIVersion: gardencorev1beta1.SchemeGroupVersion.String(), Kind: "InternalSecret", Namespace: secret.Namespace, Name: secret.Name,
	}
	return c.validateUpdate(ctx, reference, secret.Data, old.Data)
}

func secretReference(namespace, name string) corev1.ObjectReference {
	return corev1.ObjectReference{APIVersion: corev1.SchemeGroupVersion.String(), Kind: "Secret", Namespace: namespace, Name: name}
}

// areLabelled reports whether a binding of this type refers to the credentials: Gardener sets the label on them, and checks by a dry run for a new
// binding whether the Secret could be created with it.
func (c Credentials) areLabelled(object client.Object) bool {
	return object.GetLabels()[v1beta1constants.LabelShootProviderPrefix+c.Type] == "true"
}

func (c Credentials) validateCreated(object client.Object, data map[string][]byte) Result {
	if !c.areLabelled(object) {
		return Result{}
	}
	path := field.NewPath("data")
	return Result{Errors: c.Validate(data, path), Warnings: c.warnings(data, path)}
}

func (c Credentials) warnings(data map[string][]byte, path *field.Path) []string {
	if c.Warnings == nil {
		return nil
	}
	return c.Warnings(data, path)
}

// validateUpdate validates an update of the referenced credentials. It lists the shoots only if they could be affected.
func (c Credentials) validateUpdate(ctx context.Context, reference corev1.ObjectReference, data, oldData map[string][]byte) (Result, error) {
	if maps.EqualFunc(data, oldData, bytes.Equal) {
		return Result{}, nil
	}
	path := field.NewPath("data")
	result := Result{
		Errors:   ratcheting.Introduced(c.errorsOfUnchangedValues(oldData, data, path), c.Validate(data, path)),
		Warnings: c.warnings(data, path),
	}
	if c.ValidateUsed == nil {
		return result, nil
	}
	impossible := c.ValidateUsed(oldData, data, path)
	if len(impossible) == 0 {
		return result, nil
	}
	used, err := c.areUsedByShoot(ctx, reference)
	if used {
		result.Errors = append(result.Errors, impossible...)
	}
	return result, err
}

// errorsOfUnchangedValues returns the errors of the old object except those about changed values: errors do not contain the values, and so would look
// the same.
func (c Credentials) errorsOfUnchangedValues(before, after map[string][]byte, path *field.Path) field.ErrorList {
	changed := map[string]bool{}
	for key, value := range after {
		if !bytes.Equal(value, before[key]) {
			changed[path.Key(key).String()] = true
		}
	}
	return slices.DeleteFunc(c.Validate(before, path), func(fieldError *field.Error) bool { return changed[fieldError.Field] })
}

func (c Credentials) validateSecretBinding(ctx context.Context, binding, old *gardencorev1beta1.SecretBinding) (Result, error) {
	reference := secretReference(cmp.Or(binding.SecretRef.Namespace, binding.Namespace), binding.SecretRef.Name)
	if !c.isTypeOf(binding) || old != nil && c.isTypeOf(old) && old.SecretRef == binding.SecretRef {
		return Result{}, nil
	}
	return c.validateReferenced(ctx, reference, field.NewPath("secretRef"))
}

// isTypeOf reports whether a binding is for this type: a binding may have several types.
func (c Credentials) isTypeOf(binding *gardencorev1beta1.SecretBinding) bool {
	return binding.Provider != nil && slices.Contains(strings.Split(binding.Provider.Type, ","), c.Type)
}

func (c Credentials) validateCredentialsBinding(ctx context.Context, binding, old *securityv1alpha1.CredentialsBinding) (Result, error) {
	path, reference := field.NewPath("credentialsRef"), binding.CredentialsRef
	if binding.Provider.Type != c.Type || old != nil && old.Provider.Type == c.Type && old.CredentialsRef == reference {
		return Result{}, nil
	}
	switch {
	case reference.GroupVersionKind().GroupKind() != securityv1alpha1.SchemeGroupVersion.WithKind("WorkloadIdentity").GroupKind():
		return c.validateReferenced(ctx, reference, path)
	case c.ValidateIdentity == nil:
		return Result{Errors: field.ErrorList{field.Invalid(path.Child("kind"), reference.Kind, c.InsteadOfIdentity)}}, nil
	default:
		return c.validateReferencedIdentity(ctx, reference, path)
	}
}

// validateReferenced validates the credentials that a binding refers to. If they do not exist, Gardener rejects the
// binding.
func (c Credentials) validateReferenced(ctx context.Context, reference corev1.ObjectReference, path *field.Path) (Result, error) {
	data, err := c.Garden.Credentials(ctx, reference)
	if data == nil || err != nil {
		return Result{}, err
	}
	return Result{Errors: asReferenced(c.Validate(data, field.NewPath("data")), reference, path)}, nil
}

// asReferenced converts errors of an object into those of the field at path that refers to it.
func asReferenced(errs field.ErrorList, reference corev1.ObjectReference, path *field.Path) field.ErrorList {
	var referenced field.ErrorList
	for _, fieldError := range errs {
		referenced = append(referenced, field.Invalid(path, reference.Namespace+"/"+reference.Name,
			fmt.Sprintf("correct the %s first: %s", reference.Kind, fieldError.Error())))
	}
	return referenced
}

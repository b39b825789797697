package admission

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

const settings = `{"metadata":{"name":"settings"},"data":{"a":"1"}}`

func request(operation admissionv1.Operation, object, old string) admission.Request {
	r := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Operation: operation, Kind: metav1.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Name: "settings",
	}}
	r.Object.Raw, r.OldObject.Raw = []byte(object), []byte(old)
	return r
}

// callValidator asks a handler whose validator has the same result for everything, and returns how often it was asked.
func callValidator(r admission.Request, result Result, err error) (admission.Response, int) {
	calls := 0
	handler := Validate(corev1.SchemeGroupVersion.WithKind("ConfigMap"), func(context.Context, *corev1.ConfigMap, *corev1.ConfigMap) (Result, error) {
		calls++
		return result, err
	})
	return handler.Handle(context.Background(), r), calls
}

func TestValidate_InvalidFields(t *testing.T) {
	result := Result{
		Errors: field.ErrorList{
			field.Invalid(field.NewPath("data", "a"), "1", "choose 2"),
			field.Required(field.NewPath("data", "b"), "give one"),
		},
		Warnings: []string{"nobody reads data.c"},
	}
	response, _ := callValidator(request(admissionv1.Create, settings, ""), result, nil)
	require.False(t, response.Allowed)
	assert.EqualValues(t, http.StatusUnprocessableEntity, response.Result.Code)
	assert.Equal(t, metav1.StatusReasonInvalid, response.Result.Reason)
	assert.Equal(t, `ConfigMap "settings" is invalid: [data.a: Invalid value: "1": choose 2, data.b: Required value: give one]`, response.Result.Message)
	assert.Equal(t, []metav1.StatusCause{
		{Type: metav1.CauseTypeFieldValueInvalid, Field: "data.a", Message: `Invalid value: "1": choose 2`},
		{Type: metav1.CauseTypeFieldValueRequired, Field: "data.b", Message: "Required value: give one"},
	}, response.Result.Details.Causes)
	assert.Equal(t, []string{"nobody reads data.c"}, response.Warnings)
}

func TestValidate_TruncatesErrors(t *testing.T) {
	var errs field.ErrorList
	long := strings.Repeat("ä", 100_000)
	for i := range 100_000 {
		errs = append(errs, field.Invalid(field.NewPath("data").Index(i), long, "choose 2"))
	}
	response, _ := callValidator(request(admissionv1.Create, settings, ""), Result{Errors: errs}, nil)
	require.False(t, response.Allowed)
	causes := response.Result.Details.Causes
	require.Len(t, causes, 51)
	assert.Equal(t, metav1.StatusCause{
		Type: metav1.CauseTypeFieldValueInvalid, Field: "data[49]", Message: `Invalid value: "` + strings.Repeat("ä", 126) + ` ...": choose 2`,
	}, causes[49])
	assert.Equal(t, metav1.StatusCause{
		Type: metav1.CauseTypeFieldValueInvalid, Field: "data[50]", Message: "Invalid value: 99950 more errors from here on: correct the others first",
	}, causes[50])
	encoded, err := json.Marshal(response)
	require.NoError(t, err)
	assert.Less(t, len(encoded), 50_000)
}

func TestValidate_ReportsAllErrorsWithinLimit(t *testing.T) {
	var errs field.ErrorList
	for i := range 50 {
		errs = append(errs, field.Required(field.NewPath("data").Index(i), "give one"))
	}
	response, _ := callValidator(request(admissionv1.Create, settings, ""), Result{Errors: errs}, nil)
	assert.Len(t, response.Result.Details.Causes, 50)
	assert.NotContains(t, response.Result.Message, "more")
}

func TestValidate_InternalError(t *testing.T) {
	response, _ := callValidator(request(admissionv1.Create, settings, ""), Result{}, errors.New("reading the CloudProfile: connection refused"))
	require.False(t, response.Allowed)
	assert.EqualValues(t, http.StatusInternalServerError, response.Result.Code)
	assert.Equal(t, "reading the CloudProfile: connection refused: try again", response.Result.Message)
	assert.Nil(t, response.Result.Details)
}

func TestValidate_Warning(t *testing.T) {
	response, _ := callValidator(request(admissionv1.Update, settings, settings), Result{Warnings: []string{"nobody reads data.c"}}, nil)
	assert.True(t, response.Allowed)
	assert.Equal(t, []string{"nobody reads data.c"}, response.Warnings)
}

func TestValidate_GenerateName(t *testing.T) {
	generated := request(admissionv1.Create, `{"metadata":{"generateName":"settings-"}}`, "")
	generated.Name = ""
	response, _ := callValidator(generated, Result{Errors: field.ErrorList{field.Required(field.NewPath("data"), "give some")}}, nil)
	assert.Contains(t, response.Result.Message, `ConfigMap "new" is invalid`)
}

func TestValidate_IgnoredRequests(t *testing.T) {
	otherKind, subresource := request(admissionv1.Create, settings, ""), request(admissionv1.Update, settings, settings)
	otherKind.Kind.Kind, subresource.SubResource = "Secret", "status"
	deleting := `{"metadata":{"name":"settings","deletionTimestamp":"2026-11-20T12:00:00Z"}}`
	for sentence, r := range map[string]admission.Request{
		"another kind passes":                     otherKind,
		"a subresource passes":                    subresource,
		"a deletion passes":                       request(admissionv1.Delete, "", settings),
		"what is being deleted passes":            request(admissionv1.Update, deleting, deleting),
		"what leaves out that it is deleted, too": request(admissionv1.Update, settings, deleting),
	} {
		t.Run(sentence, func(t *testing.T) {
			response, calls := callValidator(r, Result{Errors: field.ErrorList{field.Required(field.NewPath("data"), "give some")}}, nil)
			assert.True(t, response.Allowed)
			assert.Zero(t, calls)
		})
	}
}

func TestValidate_MalformedObject(t *testing.T) {
	response, calls := callValidator(request(admissionv1.Create, `{"data":[]}`, ""), Result{}, nil)
	assert.Zero(t, calls)
	assert.EqualValues(t, http.StatusBadRequest, response.Result.Code)
}

func TestValidate_Update(t *testing.T) {
	handler := Validate(corev1.SchemeGroupVersion.WithKind("ConfigMap"), func(_ context.Context, object, old *corev1.ConfigMap) (Result, error) {
		assert.Equal(t, map[string]string{"a": "1"}, object.Data)
		assert.Equal(t, map[string]string{"a": "0"}, old.Data)
		return Result{}, nil
	})
	response := handler.Handle(t.Context(), request(admissionv1.Update, settings, `{"data":{"a":"0"}}`))
	assert.True(t, response.Allowed)
	encoded, err := json.Marshal(response)
	require.NoError(t, err)
	assert.NotContains(t, string(encoded), "patch", "validation changes nothing")
}

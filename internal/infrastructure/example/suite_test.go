package example_test

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/apis/example/v1alpha1"
	cloudexample "github.com/trellis-garden/trellis/internal/cloud/example"
	"github.com/trellis-garden/trellis/internal/cloud/example/fake"
	cloudtransport "github.com/trellis-garden/trellis/internal/cloud/transport"
	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/infrastructure"
	"github.com/trellis-garden/trellis/internal/infrastructure/example"
	"github.com/trellis-garden/trellis/internal/infrastructure/infrastructuretest"
)

func TestSuite(t *testing.T) {
	infrastructuretest.Run(t, contracttest.StartAPIServer(t), infrastructuretest.Subject{
		Type:           example.Type,
		NewCloud:       newSuiteCloud,
		ErrorResponses: suiteErrorResponses,
		Want:           map[string]int{fake.Networks: 1, fake.Subnets: 1},
	})
}

// suiteCloud is the fake cloud for the suite.
type suiteCloud struct{ *fake.Cloud }

var _ infrastructuretest.Cloud = suiteCloud{}

// newSuiteCloud returns a cloud with resources of others that are similar to the shoot's.
func newSuiteCloud(shoot infrastructuretest.Identity) (infrastructuretest.Cloud, error) {
	cloud, err := fake.Start(
		fake.Resource{Kind: fake.Networks, ID: "a", Name: shoot.TechnicalID, Owner: "somebody else"},
		fake.Resource{Kind: fake.Subnets, ID: "b", Name: shoot.TechnicalID, Owner: "somebody else", Network: "a", CIDR: "10.250.0.0/16"},
		fake.Resource{Kind: fake.Networks, ID: "c", Name: shoot.TechnicalID + "-2", Owner: shoot.UID + "-2"},
		fake.Resource{Kind: fake.Subnets, ID: "d", Name: shoot.TechnicalID + "-2", Owner: shoot.UID + "-2", Network: "c", CIDR: "10.250.0.0/16"},
	)
	return suiteCloud{cloud}, err
}

// Inputs implements infrastructuretest.Cloud.
func (c suiteCloud) Inputs() infrastructuretest.Inputs {
	version := v1alpha1.GroupVersion().String()
	return infrastructuretest.Inputs{
		InfrastructureConfig: &v1alpha1.InfrastructureConfig{
			TypeMeta: metav1.TypeMeta{APIVersion: version, Kind: "InfrastructureConfig"},
			Networks: v1alpha1.Networks{Workers: "10.250.0.0/16"},
		},
		CloudProfileConfig: &v1alpha1.CloudProfileConfig{
			TypeMeta: metav1.TypeMeta{APIVersion: version, Kind: "CloudProfileConfig"}, URL: c.URL(),
		},
		Credentials: map[string][]byte{"key": []byte(fake.Key)},
	}
}

// NewDriver implements infrastructuretest.Cloud.
func (c suiteCloud) NewDriver(transport contracttest.Transport) (infrastructure.Driver, error) {
	return example.New(cloudexample.NewSessions(cloudexample.Options{
		Transport: transport, Retry: cloudtransport.RetryPolicy{FirstPause: 5 * time.Millisecond, LongestPause: 100 * time.Millisecond},
	})), nil
}

// Resources implements infrastructuretest.Cloud. The range is the only other property that is the same in every run.
func (c suiteCloud) Resources() ([]infrastructuretest.Resource, error) {
	var all []infrastructuretest.Resource
	for _, resource := range c.Cloud.Resources() {
		all = append(all, infrastructuretest.Resource{
			Kind: resource.Kind, ID: resource.ID, Name: resource.Name, Facts: resource.Owner + " " + resource.CIDR,
		})
	}
	return all, nil
}

// suiteErrorResponses are the errors that the cloud may return to a valid request. 503 may be that of a proxy, which does not know the effect.
func suiteErrorResponses(contracttest.Call) []contracttest.ErrorResponse {
	response := func(status int, code string) contracttest.ErrorResponse {
		return contracttest.ErrorResponse{
			Error: strconv.Itoa(status) + " " + code, AfterEffect: status == http.StatusServiceUnavailable,
			Response: func(request *http.Request) *http.Response {
				return contracttest.JSONResponse(request, status, 0, map[string]string{"code": code, "message": "not now"})
			},
		}
	}
	return []contracttest.ErrorResponse{
		response(http.StatusUnauthorized, "Unauthenticated"),
		response(http.StatusForbidden, "QuotaExceeded"),
		response(http.StatusServiceUnavailable, ""),
	}
}

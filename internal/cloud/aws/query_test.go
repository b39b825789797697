package aws_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/aws"
	"github.com/trellis-garden/trellis/internal/cloud/aws/auth"
)

// roundTripper answers requests instead of a network.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// sessionsWithTransport returns sessions that send their requests to AWS' own addresses, as answer sees them.
func sessionsWithTransport(answer func(*http.Request) response) *aws.Sessions {
	return aws.NewSessions(aws.Options{UserAgent: "trellis/test", Transport: func(http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			answered := answer(request)
			return &http.Response{
				StatusCode: answered.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(answered.body)), Request: request,
			}, nil
		})
	}})
}

func TestQueryServices_Addresses(t *testing.T) {
	for region, domain := range map[string]string{
		"eu-west-1":       "amazonaws.com",
		"us-gov-west-1":   "amazonaws.com",
		"cn-north-1":      "amazonaws.com.cn",
		"eusc-de-east-1":  "amazonaws.eu",
		"us-iso-east-1":   "c2s.ic.gov",
		"us-isob-east-1":  "sc2s.sgov.gov",
		"eu-isoe-west-1":  "cloud.adc-e.uk",
		"us-isof-south-1": "csp.hci.ic.gov",
	} {
		t.Run(region, func(t *testing.T) {
			var mutex sync.Mutex // both versions are listed at the same time
			var hosts []string
			sessions := sessionsWithTransport(func(request *http.Request) response {
				mutex.Lock()
				defer mutex.Unlock()
				hosts = append(hosts, request.URL.Scheme+"://"+request.URL.Host+request.URL.Path)
				assert.Contains(t, request.Header.Get("Authorization"), "/"+region+"/elasticloadbalancing/aws4_request")
				assert.Equal(t, "trellis/test", request.Header.Get("User-Agent"))
				return answer("DescribeLoadBalancers", "")
			})
			session, err := sessions.Get(t.Context(), accessKey(), region)
			require.NoError(t, err)
			_, err = session.ListLoadBalancers(t.Context(), "vpc-1")
			require.NoError(t, err)
			address := "https://elasticloadbalancing." + region + "." + domain + "/"
			assert.Equal(t, []string{address, address}, hosts, "one for each version")
		})
	}
}

func TestQueryServices_LoginAddress(t *testing.T) {
	var host string
	sessions := sessionsWithTransport(func(request *http.Request) response {
		host = request.URL.Host
		return queryError(http.StatusBadRequest, "InvalidIdentityToken")
	})
	_, err := sessions.Get(t.Context(), auth.Credentials{RoleARN: "arn:aws-cn:iam::123456789012:role/shoots", Token: "a.b.c"}, "cn-north-1")
	assert.Equal(t, cloud.Unauthenticated, cloud.KindOf(err), "%v", err)
	require.ErrorContains(t, err, "sts AssumeRoleWithWebIdentity answered InvalidIdentityToken: No. (request r-1)")
	assert.Equal(t, "sts.cn-north-1.amazonaws.com.cn", host)
}

func TestQueryServices_UnusableAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		answer response
		kind   cloud.Kind
		text   string
	}{
		"a proxy's page of errors":          {response{http.StatusForbidden, "<html><body>Denied"}, cloud.Unknown, "elasticloadbalancing DescribeLoadBalancers answered status 403"},
		"a page of errors of a balancer":    {response{http.StatusBadGateway, ""}, cloud.Unavailable, "answered status 502"},
		"a successful response without XML": {response{http.StatusOK, "OK"}, cloud.Unavailable, "decoding the answer"},
	} {
		t.Run(name, func(t *testing.T) {
			session, _ := newSession(t, c.answer)
			_, err := session.ListLoadBalancers(t.Context(), "vpc-1")
			assert.Equal(t, c.kind, cloud.KindOf(err))
			require.ErrorContains(t, err, c.text)
		})
	}
}

package services_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
)

func TestIsLogin(t *testing.T) {
	assert.True(t, services.IsLogin(services.Keystone, http.MethodPost, "/v3/auth/tokens"))
	assert.False(t, services.IsLogin(services.Keystone, http.MethodGet, "/v3/auth/tokens"))
	assert.False(t, services.IsLogin(services.Neutron, http.MethodPost, "/v3/auth/tokens"))
}

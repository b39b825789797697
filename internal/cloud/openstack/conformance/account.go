package conformance

import (
	"net/http"

	"github.com/stretchr/testify/require"
)

// Account is a user who is a plain member of a project of his own, made for one case that changes either of them.
type Account struct {
	Login
	ProjectID, UserID string
}

// Account makes an account, quietly.
func (c *Case) Account() *Account {
	c.Helper()
	name := c.Login.Project + "-account"
	c.SetPlaceholder(name, "account's name")
	project := c.FixtureAs(c.Operator, Identity, "/v3/projects", Body{"project": Body{"name": name, "domain_id": "default"}})
	user := c.FixtureAs(c.Operator, Identity, "/v3/users", Body{"user": Body{"name": name, "password": "first", "domain_id": "default"}})
	account := &Account{Login: Login{User: name, Password: "first", Project: name}, ProjectID: project.ID(), UserID: user.ID()}
	c.WithoutRecording(func() {
		response := c.Operator.Put(Identity, c.memberRole(account), nil)
		require.Equalf(c, http.StatusNoContent, response.Status, "%s: %s", response.request, response.Raw)
	})
	return account
}

// memberRole is the path of the grant that makes an account's user a member of its project.
func (c *Case) memberRole(account *Account) string {
	c.Helper()
	var role string
	c.WithoutRecording(func() {
		roles := c.Operator.Get(Identity, "/v3/roles?name=member").List("roles")
		require.Len(c, roles, 1)
		role = roles[0].ID()
	})
	c.SetPlaceholder(role, "role of a member")
	return "/v3/projects/" + account.ProjectID + "/users/" + account.UserID + "/roles/" + role
}

// Anonymous is a caller without a token.
func (c *Case) Anonymous() *Caller { return c.withToken("") }

// withToken is a caller with a token, who knows where the member's services are.
func (c *Case) withToken(token string) *Caller {
	caller := *c.Member
	caller.token = token
	return &caller
}

// requestToken makes a login. The answer comes without the catalog, which is the cloud's own.
func (c *Case) requestToken(body any) *Response {
	c.Helper()
	return c.Anonymous().Post(Identity, "/v3/auth/tokens?nocatalog", body)
}

// issuedToken is the token in the answer to a login.
func issuedToken(response *Response) string { return response.Header.Get("X-Subject-Token") }

// byPassword is the body of a login with a password. No scope is nil.
func byPassword(user Body, scope any) Body {
	return byMethod("password", Body{"user": user}, scope)
}

// byMethod is the body of a login in any way.
func byMethod(method string, content any, scope any) Body {
	auth := Body{"identity": Body{"methods": []string{method}, method: content}}
	if scope != nil {
		auth["scope"] = scope
	}
	return Body{"auth": auth}
}

func inDefault() Body { return Body{"name": "Default"} }

// project is the scope of a login by names.
func project(name string) Body { return Body{"project": Body{"name": name, "domain": inDefault()}} }

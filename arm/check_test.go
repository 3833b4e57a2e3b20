package arm

import (
	"strings"
	"testing"
	"time"
)

func TestPermissions(t *testing.T) {
	const answer = `{"value":[
		{"actions":["*/read","Microsoft.Kusto/*"],"notActions":["Microsoft.Kusto/clusters/delete","*/delete"]},
		{"actions":["Microsoft.Network/virtualNetworks/subnets/join/action"],"notActions":[]}]}`
	server := newScript(t, reply{200, nil, answer})
	granted, err := server.client(t, nil).Permissions(testContext(t), parseID(t, clusterID))
	if err != nil {
		t.Fatal(err)
	}
	for action, want := range map[string]bool{
		"Microsoft.Kusto/clusters/write":                          true,
		"microsoft.kusto/clusters/READ":                           true,
		"Microsoft.Kusto/clusters/delete":                         false,
		"Microsoft.Kusto/clusters/databases/delete":               false,
		"Microsoft.Storage/storageAccounts/read":                  true,
		"Microsoft.Storage/storageAccounts/write":                 false,
		"Microsoft.Network/virtualNetworks/subnets/join/action":   true,
		"Microsoft.Network/virtualNetworks/subnets/join/action/x": false,
	} {
		if got := granted.Allow(action); got != want {
			t.Errorf("%s: allowed %t, want %t", action, got, want)
		}
	}
}

// TestCheck compares the request of each connection and the result.
func TestCheck(t *testing.T) {
	const subscription = "11111111-0000-0000-0000-000000000000"
	date := time.Now().Add(-10 * time.Minute).UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT")
	own := newScript(t, reply{200, map[string]string{"Date": date}, `{"value":[{},{}]}`})
	tied := newScript(t, reply{403, nil, `{"error":{"code":"AuthorizationFailed","message":"no"}}`})
	client := own.client(t, func(o *Options) {
		o.Description = "none"
		o.Connections = map[string]Connection{
			"tied": {Options: Options{Cloud: cloudAt(tied.URL), Description: "of the other"}, Subscriptions: []string{subscription}},
		}
	})
	checks := client.Check(testContext(t))
	if len(checks) != 2 {
		t.Fatalf("%+v", checks)
	}
	first, second := checks[0], checks[1]
	if first.Name != CredentialDefaultName || first.Description != "none" || first.Visible != 2 || first.Err != nil || first.Skew < 9*time.Minute {
		t.Errorf("the default: %+v", first)
	}
	if second.Name != "tied" || second.Subscription != subscription || second.Unsent || asError(t, second.Err).Status != 403 {
		t.Errorf("the subscription's own: %+v", second)
	}
	if uri := tied.requests()[0].uri; !strings.HasPrefix(uri, "/subscriptions/"+subscription+"?") {
		t.Errorf("it received a request for %s", uri)
	}
}

package starter

import (
	"cmp"
	"context"
	"path/filepath"
	"time"

	"github.com/armature-io/armature/internal/audit"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/page"
	"github.com/armature-io/armature/starter/internal/plan"
	"github.com/spf13/cobra"
)

// The CLI's own environment variables with addresses for links.
const (
	webUIVariable  = "ARMATURE_WEB_UI"
	portalVariable = "ARMATURE_PORTAL"
	othersVariable = "ARMATURE_UI_OTHERS"
	publicPortal   = "https://portal.azure.com"
)

func (a *app) uiCommand() *cobra.Command {
	var listen, webUI, portal, planFile string
	var login uiLogin
	var others []string
	c := &cobra.Command{
		Use:        "ui",
		SuggestFor: []string{"web", "dashboard", "serve"},
		Short:      "Show the estate in a browser",
		Long: `ui serves pages about all managed resources to a browser on this computer, until
Ctrl-C: the root causes first, with who has to act; a graph; and a page for each
resource. It shows what get, why, describe and history show, and changes nothing.

It prints an address that opens the pages once, and another one each time that one was
used. Only loopback addresses are served. While no page is visible, it asks Temporal
nothing.

With --base-url it serves a team: users log in at an issuer (OpenID Connect), and those
with a claim of --read may read. Any address may be served then, over http: a proxy in
front of it has the certificate of --base-url. Logins are logged to standard error.

With --plan FILE the first page shows the saved plan of a change or of a deletion, and
whether it still holds: a worker plans it again.

With ARMATURE_UI=ADDRESS the output of get, why, describe, plan and drift, and of a wait that
fails, ends with the address of the page about its resources.

` + cli.ExitHelp,
		Example: "  armature ui\n  armature ui --listen 127.0.0.1:8420 --web-ui https://temporal.example.com\n  armature ui --plan stack.plan\n  armature ui --listen :8420 --base-url https://armature.example.com --oidc-issuer https://login.example.com --oidc-client-id armature --oidc-client-secret /run/secrets/client-secret --read groups=platform",
		Args:    cli.NoArgs("a resource has a page of its own; `armature why NAME` explains it in the terminal"),
		RunE: func(c *cobra.Command, _ []string) error {
			options := page.Options{WebUI: webUI, Portal: portal}
			var err error
			if options.Others, err = otherPages(others); err != nil {
				return err
			}
			if options.Shared, err = a.shared(login); err != nil {
				return err
			}
			return a.ui(c.Context(), listen, planFile, options)
		},
	}
	c.Flags().StringVar(&listen, "listen", "127.0.0.1:0", "address to serve, loopback unless users log in; port 0 is any free port")
	c.Flags().StringVar(&planFile, "plan", "", "show the saved plan in this `file` (armature plan --out)")
	a.addWebUI(c, &webUI)
	c.Flags().StringVar(&portal, "portal", a.variable(portalVariable, publicPortal), "address of the Azure portal, for links (environment: "+portalVariable+")")
	c.Flags().StringSliceVar(&others, "others", split(a.variable(othersVariable, "")), "pages of other namespaces, as links: NAME=ADDRESS (environment: "+othersVariable+")")
	login.register(c.Flags(), func(name string) string { return a.variable(name, "") })
	return c
}

// variable returns the value of an environment variable, otherwise the other value.
func (a *app) variable(name, otherwise string) string {
	value, _ := a.environment.LookupEnv(name)
	return cmp.Or(value, otherwise)
}

// addWebUI adds the address of the Temporal Web UI.
func (a *app) addWebUI(c *cobra.Command, webUI *string) {
	c.Flags().StringVar(webUI, "web-ui", a.variable(webUIVariable, ""), "address of the Temporal Web UI, for links (environment: "+webUIVariable+")")
}

func (a *app) ui(ctx context.Context, listen, planFile string, options page.Options) error {
	if planFile != "" {
		file, err := plan.ReadFile(planFile)
		if err != nil {
			return err
		}
		options.Plan = &page.SavedPlan{Name: filepath.Base(planFile), File: file}
	}
	b, err := a.connection(ctx)
	if err != nil {
		return err
	}
	listener, err := page.Listen(ctx, listen, options.Shared != nil)
	if err != nil {
		return cli.BadInput("%w", err)
	}
	options.Reader, options.Fleet, options.Specs = b.Reader, b, b
	options.Namespace, options.TaskQueue, options.Now = b.namespace, a.taskQueue, a.now
	options.History = func(ctx context.Context, workflowID string) ([]audit.Record, string, error) {
		runs, records, err := a.auditRecords(ctx, b, workflowID, time.Time{})
		return records, backend.HistoryEnd(runs), err
	}
	options.PlanAgain = func(ctx context.Context, file plan.File) (plan.Plan, error) {
		_, now, err := planAgain(ctx, b, file)
		return now, err
	}
	options.Announce = func(address string) { a.printf("%s\n", address) }
	return page.Serve(ctx, listener, options)
}

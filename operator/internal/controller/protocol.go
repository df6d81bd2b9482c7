package controller

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/cluster"
	"commitlab.dev/operator/internal/engine"
)

// stepsPerReconcile bounds one run; the next one goes on from the record.
const stepsPerReconcile = 30

// commandTimeout bounds one control statement.
const commandTimeout = 5 * time.Second

// runProtocol looks, decides and acts until there is nothing left to do at once. Every step starts from the record that
// was persisted last; a conflict means that somebody else changed it, so everything is read again.
func (r *Reconciler) runProtocol(ctx context.Context, c *v1alpha1.CommitCluster, a access) (ctrl.Result, error) {
	for range stepsPerReconcile {
		v, err := r.Observer.View(ctx, c, a)
		if err != nil {
			return ctrl.Result{}, err
		}
		p := cluster.Decide(v)
		// Labels are for clients only, so whoever refuses them keeps nobody from being fenced and elected.
		rolesErr := r.applyRoles(ctx, c, v, p)
		if rolesErr != nil {
			log.FromContext(ctx).Info("Services and role labels cannot be written", "error", rolesErr.Error())
			p.Report("", "clients may be led to the wrong servers: "+rolesErr.Error())
		}
		switch {
		case p.Record != nil:
			if err := r.persist(ctx, c, p); err != nil {
				return retryOnConflict(err)
			}
			continue
		case len(p.Commands) > 0:
			if r.execute(ctx, c, v, p, a) {
				continue
			}
		}
		result, err := r.finish(ctx, c, v, p, a)
		return result, errors.Join(err, rolesErr)
	}
	return ctrl.Result{RequeueAfter: shortestWait}, nil
}

func retryOnConflict(err error) (ctrl.Result, error) {
	if apierrors.IsConflict(err) {
		return ctrl.Result{RequeueAfter: shortestWait}, nil
	}
	return ctrl.Result{}, err
}

// persist is the claim of rule 1: the update carries the resourceVersion that was read.
func (r *Reconciler) persist(ctx context.Context, c *v1alpha1.CommitCluster, p cluster.Plan) error {
	startedAt := electionStart(c)
	c.Status.Record = *p.Record
	if err := r.Client.Status().Update(ctx, c); err != nil {
		return err
	}
	recordElection(c, startedAt)
	if p.Event != nil {
		log.FromContext(ctx).Info(p.Event.Message, "reason", p.Event.Reason, "epoch", p.Record.Epoch)
		kind := corev1.EventTypeNormal
		if p.Event.Warning {
			kind = corev1.EventTypeWarning
		}
		r.Recorder.Eventf(c, nil, kind, p.Event.Reason, "Protocol", "%s", p.Event.Message)
	}
	return nil
}

// applyRoles has clients led to the master, and writes the role labels that differ, as many as it can. The master's is given last:
// no two ever have it.
func (r *Reconciler) applyRoles(ctx context.Context, c *v1alpha1.CommitCluster, v cluster.View, p cluster.Plan) error {
	return errors.Join(r.leadTo(ctx, c, p.Master()), r.labelAll(ctx, c, v, p))
}

func (r *Reconciler) labelAll(ctx context.Context, c *v1alpha1.CommitCluster, v cluster.View, p cluster.Plan) error {
	var errs []error
	for _, master := range []bool{false, true} {
		for _, s := range v.Servers {
			role := p.Roles[s.Name]
			if role == s.Label || (role == v1alpha1.RoleMaster) != master {
				continue
			}
			if err := r.label(ctx, c, s.Name, role); client.IgnoreNotFound(err) != nil {
				errs = append(errs, fmt.Errorf("label %s: %w", s.Name, err))
			}
		}
		if len(errs) > 0 {
			break
		}
	}
	return errors.Join(errs...)
}

func (r *Reconciler) label(ctx context.Context, c *v1alpha1.CommitCluster, pod, role string) error {
	value := "null"
	if role != "" {
		value = fmt.Sprintf("%q", role)
	}
	patch := fmt.Appendf(nil, `{"metadata":{"labels":{%q:%s}}}`, v1alpha1.LabelRole, value)
	o := &corev1.Pod{}
	o.Namespace, o.Name = c.Namespace, pod
	return r.Client.Patch(ctx, o, client.RawPatch("application/merge-patch+json", patch))
}

// execute runs the commands side by side and says whether any of them succeeded, so that it is worth looking again at once.
func (r *Reconciler) execute(ctx context.Context, c *v1alpha1.CommitCluster, v cluster.View, p cluster.Plan, a access) bool {
	reach := r.Observer.reach(c, a)
	// A pod that has been deleted is there for a while yet: nothing is to be seen at once.
	restarts, clones, statements := split(p.Commands)
	for _, command := range restarts {
		r.restart(ctx, c, command)
	}
	for _, command := range clones {
		r.clone(ctx, c, command, reach(serverNamed(v, command.Server)), a.loginsAt(&v, command.Source))
	}
	succeeded := make([]bool, len(statements))
	var wait sync.WaitGroup
	for i, command := range statements {
		wait.Go(func() {
			succeeded[i] = r.executeOne(ctx, c, &v, command, reach(serverNamed(v, command.Server)), a)
		})
	}
	wait.Wait()
	for _, ok := range succeeded {
		if ok {
			return true
		}
	}
	return false
}

func serverNamed(v cluster.View, name string) *cluster.Server {
	for i := range v.Servers {
		if v.Servers[i].Name == name {
			return &v.Servers[i]
		}
	}
	return &cluster.Server{}
}

func (r *Reconciler) executeOne(ctx context.Context, c *v1alpha1.CommitCluster, v *cluster.View, command cluster.Command, server engine.Server, a access) bool {
	if server == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	err := cluster.Execute(ctx, command, server, a.loginsAt(v, command.Source))
	commands.WithLabelValues(string(command.Kind), outcome(err)).Inc()
	logger := log.FromContext(ctx).WithValues("command", command.String())
	if err == nil {
		logger.Info("commanded")
		return true
	}
	logger.Info("command failed", "error", err.Error())
	if errors.Is(err, engine.ErrDiverged) {
		r.Recorder.Eventf(c, nil, corev1.EventTypeWarning, "Diverged", "Follow", "%s: %s; %s", command.Server, err.Error(), v.AfterDivergence(command.Server))
	}
	return false
}

func split(commands []cluster.Command) (restarts, clones, statements []cluster.Command) {
	for _, c := range commands {
		switch c.Kind {
		case cluster.CommandRestart:
			restarts = append(restarts, c)
		case cluster.CommandClone:
			clones = append(clones, c)
		default:
			statements = append(statements, c)
		}
	}
	return restarts, clones, statements
}

func outcome(err error) string {
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, engine.ErrEpoch):
		return "epoch_refused"
	}
	return "error"
}

// finish makes the accounts on a writable master and writes what people see.
func (r *Reconciler) finish(ctx context.Context, c *v1alpha1.CommitCluster, v cluster.View, p cluster.Plan, a access) (ctrl.Result, error) {
	before := c.DeepCopy()
	noteCertificates(c, v)
	r.applyTransport(ctx, c, v, &p, a)
	learned := r.applyVariables(ctx, c, v, &p, a)
	accountsErr := r.ensureAccounts(ctx, c, v, a)
	r.describeClones(ctx, c, &v, &p, a)
	summary := cluster.Summarize(v, p)
	setSummary(c, v, summary)
	if err := r.writeStatus(ctx, before, c); err != nil {
		return retryOnConflict(err)
	}
	recordCluster(c)
	if accountsErr != nil {
		return ctrl.Result{}, accountsErr
	}
	if learned {
		return ctrl.Result{RequeueAfter: shortestWait}, nil
	}
	if len(p.Commands) > 0 || p.Waiting+p.Rollout != "" {
		again := r.patience.next(client.ObjectKeyFromObject(c), p.Waiting+p.Rollout+fmt.Sprint(p.Commands))
		if p.Left > 0 {
			again = min(again, p.Left)
		}
		return ctrl.Result{RequeueAfter: again}, nil
	}
	r.patience.forget(client.ObjectKeyFromObject(c))
	r.clones.forget(c.UID)
	return ctrl.Result{RequeueAfter: idleRequeue}, nil
}

// ensureAccounts runs once for each set of accounts, on a master that acknowledges.
func (r *Reconciler) ensureAccounts(ctx context.Context, c *v1alpha1.CommitCluster, v cluster.View, a access) error {
	if !cluster.Writable(v) {
		return nil
	}
	creds, err := r.ensureSecrets(ctx, c)
	if err != nil || c.Status.AccountsRevision == creds.revision() {
		return nil // what is wrong with the Secrets is said by the controller of the objects
	}
	master := serverNamed(v, c.Status.Master)
	server := r.Observer.reach(c, a)(master)
	if server == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	if err := server.EnsureAccounts(ctx, creds.database, creds.accounts(&master.Status)); err != nil {
		r.Recorder.Eventf(c, nil, corev1.EventTypeWarning, "AccountsFailed", "EnsureAccounts", "%s", err.Error())
		return fmt.Errorf("create accounts on %s: %w", c.Status.Master, err)
	}
	c.Status.AccountsRevision = creds.revision()
	return nil
}

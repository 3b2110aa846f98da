package postgres

import "github.com/millrace-dev/millrace/core/store"

// alone is the seventh version of the schema: the transaction of one step, whose parts are parameters. Most steps write one of each kind at
// most; to unfold lists of one costs the server a third of such a transaction. In everything that it asserts, refuses and writes, and in that
// order, apply_step is apply_steps of a list of one.
//
// A null c_generation, w_generation, i_channel or f_instance stands for no wait to close, no wait to open, no receipt, no record to forget.
const alone = `
create function apply_step(
    s_id bytea, s_cause bytea, s_replica bytea, s_lane bigint, s_incarnation bigint, s_epoch bigint, s_spawn boolean, s_status smallint,
    s_deployment bytea, s_flow bytea, s_snapshot bytea, s_result bytea,
    i_channel bytea, i_id bytea, i_reply bytea, i_expires bigint,
    c_generation bigint,
    w_generation bigint, w_element bytea, w_channel bytea, w_key bytea, w_due bigint, w_data bytea,
    f_instance bytea, f_epoch bigint, f_cause bytea, f_replica bytea, f_lane bigint, f_incarnation bigint
) returns void language plpgsql as $$
declare
    marked boolean := false;
begin
    if not s_spawn then
        update instances
        set status = s_status, replica = '', lane = 0, incarnation = 0, since = 0, epoch = epoch + 1, snapshot = s_snapshot, result = s_result,
            generation = case when w_generation is null then generation when w_generation > generation then w_generation else -1 end
        where id = s_id and replica = s_replica and lane = s_lane and incarnation = s_incarnation and epoch = s_epoch
        returning generation < 0 into marked;
        if not found then
            perform refuse('MR001');
        end if;
    else
        if s_epoch = 0 then
            insert into instances (id, status, epoch, deployment, flow, snapshot, result, generation, emitted)
            values (s_id, s_status, 1, s_deployment, s_flow, s_snapshot, s_result, coalesce(w_generation, 0), 0)
            on conflict (id) do nothing;
        else
            update instances
            set status = s_status, epoch = epoch + 1, deployment = s_deployment, flow = s_flow, snapshot = s_snapshot, result = s_result,
                generation = coalesce(w_generation, 0)
            where id = s_id and status = 1 and epoch = s_epoch;
        end if;
        if not found then
            perform 1 from instances where id = s_id and status >= 2;
            perform refuse(case when found then 'MR002' else 'MR001' end);
        end if;
    end if;
    if i_channel is not null then
        insert into inbox (channel, id, cause, instance, reply, expires) values (i_channel, i_id, s_cause, s_id, i_reply, i_expires);
    end if;
    if s_status >= 3 then
        if not s_spawn then
            delete from waits where instance = s_id;
        end if;
    elsif c_generation is not null then
        delete from waits where instance = s_id and generation = c_generation;
        if not found then
            perform refuse('MR003');
        end if;
    end if;
    if marked then
        perform refuse('MR004');
    end if;
    if w_generation is not null then
        insert into waits (instance, generation, element, channel, key, due, data)
        values (s_id, w_generation, w_element, w_channel, w_key, w_due, w_data);
    end if;
    insert into records (instance, epoch, cause, replica, lane, incarnation)
    values (s_id, s_epoch, s_cause, s_replica, s_lane, s_incarnation)
    on conflict do nothing;
    if f_instance is not null then
        delete from records
        where instance = f_instance and epoch = f_epoch and cause = f_cause and replica = f_replica and lane = f_lane and incarnation = f_incarnation;
    end if;
end $$;
`

// isPlain reports whether the parts of a step fit into the parameters of apply_step.
func isPlain(st *store.Step) bool {
	return len(st.Open) <= 1 && len(st.Forget) <= 1 && len(st.Outbox) == 0 && (len(st.Close) <= 1 || st.Status.Terminal())
}

// aloneArgs is the number of parameters of apply_step.
const aloneArgs = 29

var sqlApplyAlone = applicationOf("apply_step", aloneArgs)

// aloneStatement returns the statement of the transaction of a plain step, and its arguments.
func aloneStatement(st *store.Step) (string, []any) {
	c := st.Claim
	args := append(make([]any, 0, aloneArgs+9),
		name(c.Instance), name(st.Cause), name(c.Owner.Replica), int64(c.Owner.Lane), number(c.Owner.Incarnation), number(uint64(c.Epoch)), st.Spawn,
		int16(st.Status), name(st.Deployment), name(st.Flow), raw(st.Snapshot), raw(st.Result))
	if in := st.Inbox; in != nil {
		args = append(args, name(in.Channel), name(in.ID), raw(in.Reply), nanoseconds(in.Expires))
	} else {
		args = append(args, nil, nil, nil, nil)
	}
	if len(st.Close) > 0 && !st.Status.Terminal() {
		args = append(args, number(st.Close[0]))
	} else {
		args = append(args, nil)
	}
	if len(st.Open) > 0 {
		w := st.Open[0]
		args = append(args, number(w.Generation), name(w.Element), name(w.Channel), name(w.Key), nanoseconds(w.Due), raw(w.Data))
	} else {
		args = append(args, nil, nil, nil, nil, nil, nil)
	}
	if len(st.Forget) > 0 {
		r := st.Forget[0]
		args = append(args, name(r.Instance), number(uint64(r.Epoch)), name(r.Cause), name(r.Owner.Replica), int64(r.Owner.Lane), number(r.Owner.Incarnation))
	} else {
		args = append(args, nil, nil, nil, nil, nil, nil)
	}
	if st.Expect == nil && len(st.Rows) == 0 {
		return sqlApplyAlone.bare, args
	}
	var l lists
	l.addRows([]*store.Step{st})
	return sqlApplyAlone.with(&l, args)
}

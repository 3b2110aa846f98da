package postgres

// functions are the transactions that the server runs: the second version of the schema. A version is never edited once it was
// released; a later one replaces functions: commit_steps is there for replicas of an earlier version, see applying.
const functions = `
-- Refusals of a transaction: MR001 the claim is lost, MR002 the instance to spawn exists, MR003 a wait to close is not open,
-- MR004 a generation is used again. Violated keys carry their name: inbox_pkey, waits_alias, waits_pkey.
create function refuse(code text) returns bigint language plpgsql as $$
begin
    raise exception 'refused' using errcode = code;
end $$;

create function write_rows(
    s_space bytea[], s_key bytea[], s_value bytea[], s_expires bigint[], d_space bytea[], d_key bytea[]
) returns void language plpgsql as $$
begin
    if cardinality(s_key) > 0 then
        insert into rows as r (space, key, value, expires)
        select * from unnest(s_space, s_key, s_value, s_expires)
        on conflict (space, key) do update set value = excluded.value, expires = excluded.expires;
    end if;
    if cardinality(d_key) > 0 then
        delete from rows r using unnest(d_space, d_key) d(space, key) where r.space = d.space and r.key = d.key;
    end if;
end $$;

-- commit_steps is the transaction of steps of different instances: all of them, or none. Arrays with the same first letter
-- are columns of one list: p steps, c waits to close, w waits to open, i receipts, o emissions, f records to forget,
-- s rows to set and d rows to delete. Steps are in the order of their ids, so that two transactions lock rows in one order.
create function commit_steps(
    p_spawns bigint, p_ends boolean,
    p_id bytea[], p_cause bytea[], p_replica bytea[], p_lane bigint[], p_incarnation bigint[], p_epoch bigint[],
    p_spawn boolean[], p_status smallint[], p_deployment bytea[], p_flow bytea[], p_snapshot bytea[], p_result bytea[],
    p_low bigint[], p_high bigint[], p_emits bigint[],
    c_instance bytea[], c_generation bigint[],
    w_instance bytea[], w_generation bigint[], w_element bytea[], w_channel bytea[], w_key bytea[], w_due bigint[], w_data bytea[],
    i_channel bytea[], i_id bytea[], i_cause bytea[], i_instance bytea[], i_reply bytea[], i_expires bigint[],
    o_instance bytea[], o_back bigint[], o_target bytea[], o_payload bytea[],
    f_instance bytea[], f_epoch bigint[], f_cause bytea[], f_replica bytea[], f_lane bigint[], f_incarnation bigint[],
    s_space bytea[], s_key bytea[], s_value bytea[], s_expires bigint[], d_space bytea[], d_key bytea[]
) returns void language plpgsql as $$
declare
    n bigint;
    m bigint := 0;
begin
    -- Every member asserts its own owner and epoch; a member without a row aborts all.
    if cardinality(p_id) > p_spawns then
        update instances i
        set status = u.status, replica = '', lane = 0, incarnation = 0, since = 0, epoch = i.epoch + 1,
            snapshot = u.snapshot, result = u.result, emitted = i.emitted + u.emits,
            generation = case when u.high = 0 then i.generation when u.low > i.generation then u.high else -1 end
        from unnest(p_id, p_replica, p_lane, p_incarnation, p_epoch, p_spawn, p_status, p_snapshot, p_result, p_low, p_high, p_emits)
            as u(id, replica, lane, incarnation, epoch, spawn, status, snapshot, result, low, high, emits)
        where not u.spawn and i.id = u.id
            and i.replica = u.replica and i.lane = u.lane and i.incarnation = u.incarnation and i.epoch = u.epoch;
        get diagnostics n = row_count;
        if n <> cardinality(p_id) - p_spawns then
            perform refuse('MR001');
        end if;
    end if;
    if p_spawns > 0 then
        insert into instances (id, status, epoch, deployment, flow, snapshot, result, generation, emitted)
        select u.id, u.status, 1, u.deployment, u.flow, u.snapshot, u.result, u.high, u.emits
        from unnest(p_id, p_epoch, p_spawn, p_status, p_deployment, p_flow, p_snapshot, p_result, p_high, p_emits)
            as u(id, epoch, spawn, status, deployment, flow, snapshot, result, high, emits)
        where u.spawn and u.epoch = 0
        on conflict (id) do nothing;
        get diagnostics n = row_count;
        if n < p_spawns then
            update instances i
            set status = u.status, epoch = i.epoch + 1, deployment = u.deployment, flow = u.flow,
                snapshot = u.snapshot, result = u.result, generation = u.high, emitted = i.emitted + u.emits
            from unnest(p_id, p_epoch, p_spawn, p_status, p_deployment, p_flow, p_snapshot, p_result, p_high, p_emits)
                as u(id, epoch, spawn, status, deployment, flow, snapshot, result, high, emits)
            where u.spawn and u.epoch > 0 and i.id = u.id and i.status = 1 and i.epoch = u.epoch;
            get diagnostics m = row_count;
        end if;
        if n + m <> p_spawns then
            perform 1 from unnest(p_id, p_spawn) as u(id, spawn) join instances i on i.id = u.id where u.spawn and i.status >= 2;
            perform refuse(case when found then 'MR002' else 'MR001' end);
        end if;
    end if;
    if cardinality(i_id) > 0 then
        insert into inbox (channel, id, cause, instance, reply, expires)
        select * from unnest(i_channel, i_id, i_cause, i_instance, i_reply, i_expires);
    end if;
    if p_ends then
        delete from waits w using unnest(p_id, p_status, p_spawn) as u(id, status, spawn)
        where u.status >= 3 and not u.spawn and w.instance = u.id;
    end if;
    if cardinality(c_instance) > 0 then
        delete from waits w using unnest(c_instance, c_generation) as c(instance, generation)
        where w.instance = c.instance and w.generation = c.generation;
        get diagnostics n = row_count;
        if n <> cardinality(c_instance) then
            perform refuse('MR003');
        end if;
    end if;
    if cardinality(w_instance) > 0 then
        perform 1 from instances where id = any(p_id) and generation < 0; -- marked above: the loss of a claim and a duplicate are told first
        if found then
            perform refuse('MR004');
        end if;
        insert into waits (instance, generation, element, channel, key, due, data)
        select * from unnest(w_instance, w_generation, w_element, w_channel, w_key, w_due, w_data);
    end if;
    if cardinality(o_instance) > 0 then
        insert into outbox (instance, sequence, target, payload)
        select o.instance, i.emitted - o.back, o.target, o.payload
        from unnest(o_instance, o_back, o_target, o_payload) as o(instance, back, target, payload)
        join instances i on i.id = o.instance;
    end if;
    insert into records (instance, epoch, cause, replica, lane, incarnation)
    select * from unnest(p_id, p_epoch, p_cause, p_replica, p_lane, p_incarnation)
    on conflict do nothing;
    if cardinality(f_instance) > 0 then
        delete from records r
        using unnest(f_instance, f_epoch, f_cause, f_replica, f_lane, f_incarnation)
            as f(instance, epoch, cause, replica, lane, incarnation)
        where r.instance = f.instance and r.epoch = f.epoch and r.cause = f.cause
            and r.replica = f.replica and r.lane = f.lane and r.incarnation = f.incarnation;
    end if;
    if cardinality(s_key) > 0 or cardinality(d_key) > 0 then
        perform write_rows(s_space, s_key, s_value, s_expires, d_space, d_key);
    end if;
end $$;
`

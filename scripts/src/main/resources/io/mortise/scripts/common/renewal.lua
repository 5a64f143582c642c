-- renewal_of(renew, ...): the answer for one hold of a batch. A hold whose key has another type does not exist
-- for its holder, and does not affect the others; after another error the client asks again. A replica writes
-- nothing for any of them, so the answer is an error, and has to be that of the batch: the client connects anew.
local function renewal_of(renew, ...)
  local done, answer = pcall(renew, ...)
  if done then
    return answer
  end
  local message = type(answer) == 'table' and answer.err or tostring(answer)
  if string.find(message, 'READONLY', 1, true) then
    return redis.error_reply("READONLY You can't write against a read only replica.")
  end
  return string.find(message, 'WRONGTYPE', 1, true) and 0 or -1
end
